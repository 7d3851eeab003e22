#include "kernels/host/copy.hpp"

#include "kernels/host/copy_kernels.hpp"
#include "kernels/host/copy_onto_itself.hpp"
#include "kernels/host/fill.hpp"
#include "support/models/random_nest.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using testing::Case;
using testing::Random;
using testing::uniform;
using ByteBuffer = std::vector<std::byte>;

constexpr std::int64_t item_sizes[] = {1, 2, 4, 8, 16};

void move_item(const ByteBuffer& from, std::int64_t source, ByteBuffer& to, std::int64_t destination,
               std::int64_t size) {
  std::memcpy(to.data() + destination, from.data() + source, static_cast<std::size_t>(size));
}

ByteBuffer copied_by_brute_force(const kernels::StridedCopy& nest, const ByteBuffer& from, ByteBuffer to) {
  testing::for_each_item(nest, [&](std::int64_t source, std::int64_t destination) {
    move_item(from, source, to, destination, nest.item_bytes);
  });
  return to;
}

std::string text(const kernels::StridedCopy& nest) {
  std::string result = "item " + std::to_string(nest.item_bytes);
  for (const kernels::CopyLoop& loop : nest.loops) {
    result += " (" + std::to_string(loop.count) + ": " + std::to_string(loop.from_stride) + " -> " +
              std::to_string(loop.to_stride) + ")";
  }
  return result;
}

// The whole destination is compared, so that a store outside of the nest is found too.
void expect_copied(Random& random, const Case& sample) {
  const ByteBuffer from = testing::random_bytes(random, sample.from_bytes);
  const ByteBuffer to = testing::random_bytes(random, sample.to_bytes);
  const ByteBuffer expected = copied_by_brute_force(sample.nest, from, to);
  const kernels::StridedCopy nest = kernels::simplify(sample.nest);
  for (const kernels::CopyKernels* kernels : kernels::available_copy_kernels()) {
    for (const kernels::StoreHint hint : {kernels::StoreHint::cache, kernels::StoreHint::memory}) {
      ByteBuffer result = to;
      kernels::copy_with(*kernels, nest, from.data(), result.data(), hint);
      ASSERT_TRUE(result == expected) << kernels->name << ", hint " << static_cast<int>(hint) << ": "
                                      << text(sample.nest) << " as " << text(nest);
    }
  }
}

TEST(Copy, RandomNestsAgreeWithBruteForce) {
  Random random(1);
  for (int i = 0; i < 1500; ++i) {
    expect_copied(random, testing::random_case(random, item_sizes[i % 5], 16, 2000));
    if (HasFatalFailure()) return;
  }
}

TEST(Copy, RandomTransposesAndLongRunsAgreeWithBruteForce) {
  Random random(2);
  for (int i = 0; i < 400; ++i) {
    expect_copied(random, testing::random_case(random, item_sizes[i % 5], 4, 60000));
    if (HasFatalFailure()) return;
  }
}

TEST(Copy, RunsOfAnyLength) {
  Random random(3);
  for (std::int64_t run = 1; run < 700; run += run < 200 ? 1 : 37) {
    expect_copied(random, testing::make_case(random, 1, {uniform(random, 1, 9), uniform(random, 1, 9), run}));
    if (HasFatalFailure()) return;
  }
}

// to[j][i] = from[i][j] with rows of the given pitches.
Case transpose_case(std::int64_t item, std::int64_t rows, std::int64_t columns, std::int64_t from_pitch,
                    std::int64_t to_pitch, std::int64_t shift) {
  Case sample;
  sample.nest = {item, shift % 3 * item, shift, {{rows, from_pitch, item}, {columns, item, to_pitch}}};
  sample.from_bytes = 3 * item + rows * from_pitch;
  sample.to_bytes = shift + columns * to_pitch;
  return sample;
}

TEST(Copy, TransposesOfAwkwardShapesAndPitches) {
  Random random(4);
  for (const std::int64_t item : item_sizes) {
    for (const std::int64_t rows : {3, 7, 16, 65, 130, 257}) {
      for (const std::int64_t columns : {2, 9, 64, 131}) {
        const std::int64_t spare = uniform(random, 0, 3);
        expect_copied(random, transpose_case(item, rows, columns, (columns + spare) * item,
                                             rows * item + uniform(random, 0, 9), uniform(random, 0, 70)));
        expect_copied(random, transpose_case(item, rows, columns, 4096, 8192, 64 * spare));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Copy, TransposeLargerThanATile) {
  Random random(5);
  expect_copied(random, transpose_case(8, 700, 650, 650 * 8, 700 * 8, 0));
  expect_copied(random, transpose_case(8, 521, 769, 770 * 8, 523 * 8, 24));
  expect_copied(random, transpose_case(1, 1500, 1100, 1101, 1507, 5));
  expect_copied(random, transpose_case(4, 1030, 600, 601 * 4, 1031 * 4, 4));
}

TEST(Copy, OntoItselfIsWithTheSameOffsetsAndStrides) {
  std::vector<std::byte> bytes(64);
  kernels::StridedCopy nest{4, 8, 8, {{3, 16, 16}}};
  EXPECT_TRUE(kernels::is_onto_itself(nest, bytes.data(), bytes.data()));
  EXPECT_FALSE(kernels::is_onto_itself(nest, bytes.data(), bytes.data() + 4));
  nest.to_offset = 4;
  EXPECT_FALSE(kernels::is_onto_itself(nest, bytes.data(), bytes.data()));
  EXPECT_TRUE(kernels::is_onto_itself(nest, bytes.data(), bytes.data() + 4));
  nest.loops[0].to_stride = 12;
  EXPECT_FALSE(kernels::is_onto_itself(nest, bytes.data(), bytes.data() + 4));
}

TEST(Simplify, DenseNestsBecomeOneRun) {
  const kernels::StridedCopy nest =
      kernels::simplify({8, 0, 0, {{5, 320, 320}, {1, 7, 7}, {4, 80, 80}, {10, 8, 8}}});
  EXPECT_EQ(nest.item_bytes, 1600);
  EXPECT_TRUE(nest.loops.empty());
}

TEST(Simplify, ReversedOnBothSidesIsForward) {
  const kernels::StridedCopy nest = kernels::simplify({4, 36, 36, {{10, -4, -4}}});
  EXPECT_EQ(nest.item_bytes, 40);
  EXPECT_EQ(nest.from_offset, 0);
  EXPECT_EQ(nest.to_offset, 0);
}

TEST(Simplify, TransposedLoopsAreInnermost) {
  const kernels::StridedCopy nest =
      kernels::simplify({8, 0, 0, {{100, 8, 80000}, {7, 80000, 800}, {100, 560000, 8}}});
  ASSERT_EQ(nest.loops.size(), 3u);
  EXPECT_EQ(nest.loops[1].from_stride, 8);
  EXPECT_EQ(nest.loops[2].to_stride, 8);
}

TEST(Simplify, ZeroCountIsEmpty) {
  const kernels::StridedCopy nest = kernels::simplify({8, 16, 16, {{3, 8, 8}, {0, 80, 80}}});
  EXPECT_EQ(nest.item_bytes, 0);
  EXPECT_EQ(kernels::bytes(nest), 0);
  kernels::copy(nest, nullptr, nullptr, kernels::StoreHint::memory);
}

TEST(Simplify, KeepsTheBytes) {
  Random random(6);
  for (int i = 0; i < 300; ++i) {
    const Case sample = testing::random_case(random, 4, 16, 3000);
    EXPECT_EQ(kernels::bytes(kernels::simplify(sample.nest)), kernels::bytes(sample.nest));
  }
}

TEST(Simplify, RefusesNegativeCounts) {
  EXPECT_THROW(kernels::simplify({8, 0, 0, {{-1, 8, 8}}}), ArgumentError);
  EXPECT_THROW(kernels::simplify({-8, 0, 0, {}}), ArgumentError);
}

TEST(Fill, RandomNestsAgreeWithBruteForce) {
  Random random(7);
  for (int i = 0; i < 500; ++i) {
    const std::int64_t size = item_sizes[i % 5];
    const Case sample = testing::random_case(random, size, i % 2 == 0 ? 16 : 3, 20000);
    const ByteBuffer element = testing::random_bytes(random, size);
    const ByteBuffer to = testing::random_bytes(random, sample.to_bytes);
    ByteBuffer expected = to;
    testing::for_each_item(sample.nest, [&](std::int64_t, std::int64_t destination) {
      move_item(element, 0, expected, destination, size);
    });
    for (const kernels::StoreHint hint : {kernels::StoreHint::cache, kernels::StoreHint::memory}) {
      ByteBuffer result = to;
      kernels::fill(kernels::destination_of(sample.nest), element.data(), size, result.data(), hint);
      ASSERT_TRUE(result == expected) << text(sample.nest);
    }
  }
}

TEST(Fill, RefusesBrokenElements) {
  std::byte element[16] = {};
  EXPECT_THROW(kernels::fill({12, 0, 0, {}}, element, 8, element, kernels::StoreHint::cache), ArgumentError);
  EXPECT_THROW(kernels::fill({12, 0, 0, {}}, element, 0, element, kernels::StoreHint::cache), ArgumentError);
}

}  // namespace
}  // namespace partita
