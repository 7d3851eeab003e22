// The kernel that copies transpositions in tiles, as plain code, against brute force.
#include "kernels/cuda/transpose.hpp"

#include <sys/mman.h>

#include "support/models/random_transposition.hpp"
#include "support/models/transpose_here.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using Bytes = std::vector<std::byte>;
using kernels::StridedCopy;

constexpr std::int64_t element_sizes[] = {1, 2, 4, 8, 16};

Bytes element_by_element(const StridedCopy& nest, const Bytes& from, Bytes to) {
  for_each_item(nest, [&](std::int64_t source, std::int64_t destination) {
    std::memcpy(to.data() + destination, from.data() + source, static_cast<std::size_t>(nest.item_bytes));
  });
  return to;
}

/// All of the destination is compared, so that what is written next to the elements is found, too.
void expect_transposed(Random& random, const Case& sample, std::uint32_t blocks) {
  const Bytes from = random_bytes(random, sample.from_bytes);
  Bytes to = random_bytes(random, sample.to_bytes);
  const Bytes expected = element_by_element(sample.nest, from, to);
  ASSERT_TRUE(transposed_here(kernels::simplify(sample.nest), from.data(), to.data(), blocks));
  ASSERT_TRUE(to == expected) << sample.nest.item_bytes << " bytes, " << sample.nest.loops[0].count << " x "
                              << sample.nest.loops[1].count << ", " << sample.nest.loops.size() << " loops, "
                              << blocks << " blocks";
}

/// Rows of the source `from_pitch` bytes apart, of the destination `to_pitch`.
StridedCopy matrix(std::int64_t element, std::int64_t rows, std::int64_t columns, std::int64_t from_pitch,
                   std::int64_t to_pitch) {
  return {element, 0, 0, {{columns, element, to_pitch}, {rows, from_pitch, element}}};
}

TEST(Transpose, RandomMatricesAgreeWithBruteForce) {
  Random random(1);
  for (int i = 0; i < 150; ++i) {
    const Case sample = random_transposition(random, element_sizes[i % 5]);
    expect_transposed(random, sample, static_cast<std::uint32_t>(uniform(random, 1, 9)));
    if (HasFatalFailure()) return;
  }
}

TEST(Transpose, SidesAtTheEdgesOfTiles) {
  Random random(2);
  for (const std::int64_t element : element_sizes) {
    for (const std::int64_t rows : {16, 31, 32, 33, 63, 64, 65, 129}) {
      for (const std::int64_t columns : {16, 32, 33, 64, 65, 127}) {
        const std::int64_t from_pitch = columns * element, to_pitch = (rows + 3) * element;
        expect_transposed(
            random,
            {matrix(element, rows, columns, from_pitch, to_pitch), rows * from_pitch, columns * to_pitch}, 3);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Transpose, MoreBlocksThanTiles) {
  Random random(3);
  expect_transposed(random, {matrix(8, 40, 20, 160, 320), 40 * 160, 20 * 320}, 64);
}

/// Pages that are not touched take no memory.
TEST(Transpose, RowsMoreThanFourGibibytesApart) {
  constexpr std::int64_t rows = 37, columns = 41, from_pitch = (std::int64_t{1} << 32) + 8,
                         to_pitch = (std::int64_t{1} << 32) + 16;
  struct Pages {
    explicit Pages(std::int64_t count)
        : bytes(static_cast<std::size_t>(count)),
          begin(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                     0)) {}
    ~Pages() {
      if (begin != MAP_FAILED) munmap(begin, bytes);
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    std::uint64_t& at(std::int64_t offset) {
      return *reinterpret_cast<std::uint64_t*>(static_cast<char*>(begin) + offset);
    }
    std::size_t bytes;
    void* begin;
  } from(rows * from_pitch), to(columns * to_pitch);
  if (from.begin == MAP_FAILED || to.begin == MAP_FAILED) GTEST_SKIP() << "no room for addresses";
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      from.at(i * from_pitch + 8 * j) = static_cast<std::uint64_t>(i * columns + j);
  }
  ASSERT_TRUE(transposed_here(matrix(8, rows, columns, from_pitch, to_pitch), from.begin, to.begin, 2));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      ASSERT_EQ(to.at(j * to_pitch + 8 * i), static_cast<std::uint64_t>(i * columns + j)) << i << " " << j;
  }
}

/// How many tiles there are where the sides begin at these offsets of aligned memory, which is not read.
std::uint32_t tiles_of(const StridedCopy& nest, std::size_t from = 0, std::size_t to = 0) {
  alignas(16) static const std::byte memory[64] = {};
  return kernels::cuda::transposition_of(nest_of(nest), memory + from, memory + to).tiles;
}

TEST(Transpose, TilesOfAllMatrices) {
  EXPECT_EQ(tiles_of(matrix(8, 8192, 8192, 65536, 65536)), 128U * 256U);
  EXPECT_EQ(tiles_of({8, 0, 0, {{7, 80000, 80000}, {100, 8, 800}, {100, 800, 8}}}), 7U * 4U * 2U);
  EXPECT_EQ(tiles_of({16, 0, 0, {{16, 16, 256}, {16, 256, 16}}}), 1U);
}

TEST(Transpose, EverythingElseIsNone) {
  EXPECT_EQ(tiles_of({800, 0, 0, {}}), 0U);
  EXPECT_EQ(tiles_of({0, 0, 0, {}}), 0U);
  EXPECT_EQ(tiles_of({8, 0, 0, {{100, 8, 16}, {100, 800, 1600}}}), 0U);  // the same way round
  EXPECT_EQ(tiles_of({8, 0, 0, {{100, 16, 800}, {100, 1600, 8}}}),
            0U);  // no neighbours in the source
  EXPECT_EQ(tiles_of({8, 0, 0, {{100, 8, 1600}, {100, 800, 16}}}),
            0U);  // nor in the destination
  EXPECT_EQ(tiles_of({24, 0, 0, {{100, 24, 2400}, {100, 2400, 24}}}),
            0U);  // rows of three elements
}

TEST(Transpose, FewNeighboursAreNone) {
  EXPECT_GT(tiles_of(matrix(8, 16, 16, 800, 800)), 0U);
  EXPECT_EQ(tiles_of(matrix(8, 15, 100, 800, 800)), 0U);
  EXPECT_EQ(tiles_of(matrix(8, 100, 15, 800, 800)), 0U);
  EXPECT_EQ(tiles_of(matrix(8, 100, 1, 800, 800)), 0U);
  EXPECT_EQ(tiles_of(matrix(8, 0, 100, 800, 800)), 0U);
  EXPECT_EQ(tiles_of({8, 0, 0, {{0, 80000, 80000}, {100, 8, 800}, {100, 800, 8}}}), 0U);
}

TEST(Transpose, WhatGoesBackwardsOrRepeatsIsNone) {
  EXPECT_EQ(tiles_of({8, 0, 0, {{100, -8, 800}, {100, 800, 8}}}), 0U);
  EXPECT_EQ(tiles_of({8, 0, 0, {{100, 8, 800}, {100, -800, 8}}}), 0U);
  EXPECT_EQ(tiles_of({8, 0, 0, {{3, -80000, 80000}, {100, 8, 800}, {100, 800, 8}}}), 0U);
  EXPECT_EQ(tiles_of({8, 0, 0, {{3, 0, 80000}, {100, 8, 800}, {100, 800, 8}}}), 0U);
}

TEST(Transpose, MisalignedElementsAreNone) {
  const StridedCopy nest = matrix(8, 100, 100, 800, 800);
  EXPECT_GT(tiles_of(nest, 8, 24), 0U);
  EXPECT_EQ(tiles_of(nest, 4, 0), 0U);
  EXPECT_EQ(tiles_of(nest, 0, 2), 0U);
  EXPECT_EQ(tiles_of(matrix(8, 100, 100, 804, 800)), 0U);
}

TEST(Transpose, MoreTilesThan32BitsNumberAreNone) {
  constexpr std::int64_t side = std::int64_t{1} << 21;
  const std::int64_t pitch = side * 8;
  EXPECT_EQ(tiles_of(matrix(8, side / 2, side, pitch, pitch)), std::uint32_t{1} << 30);
  EXPECT_EQ(tiles_of(matrix(8, side, side, pitch, pitch)), 0U);
  EXPECT_EQ(
      tiles_of(
          {8,
           0,
           0,
           {{side, 1 << 20, 1 << 20}, {side, 1 << 20, 1 << 20}, {side, 8, 1 << 20}, {side, 1 << 20, 8}}}),
      0U);
}

}  // namespace
}  // namespace partita::testing
