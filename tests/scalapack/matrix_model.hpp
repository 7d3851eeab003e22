// Matrices on BLACS grids, and what a process owns of them by the plainest loop.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "scalapack_calls.hpp"

namespace partita::testing {

/// The same numbers on every process.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int operator()(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool maybe(double chance = 0.5) { return std::bernoulli_distribution(chance)(engine_); }
  template <class T>
  void shuffle(std::vector<T>& list) {
    std::shuffle(list.begin(), list.end(), engine_);
  }

 private:
  std::mt19937 engine_;
};

inline std::size_t index(int number) {
  return static_cast<std::size_t>(number);
}

struct BlacsGrid {
  int context = -1;
  int rows = 1;
  int columns = 1;
  int row = -1;
  int column = -1;

  bool inside() const { return row >= 0; }
  /// Shape and random numbers are the same on all processes, also on those outside, which have no context.
  static BlacsGrid of(int context, int rows, int columns) {
    BlacsGrid grid{context, rows, columns, -1, -1};
    if (context >= 0) Cblacs_gridinfo(context, &grid.rows, &grid.columns, &grid.row, &grid.column);
    return grid;
  }
  /// Collective over all processes.
  static BlacsGrid make(int rows, int columns, const char* order = "Row") {
    int context = 0;
    Cblacs_get(0, 0, &context);
    Cblacs_gridinit(&context, order, rows, columns);
    return of(context, rows, columns);
  }
  /// On these processes, row by row. Collective over all processes.
  static BlacsGrid make(int rows, int columns, const std::vector<int>& ranks) {
    std::vector<int> by_columns;
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) by_columns.push_back(ranks.at(index(i * columns + j)));
    }
    int context = 0;
    Cblacs_get(0, 0, &context);
    Cblacs_gridmap(&context, by_columns.data(), rows, rows, columns);
    return of(context, rows, columns);
  }
};

/// One dimension of a descriptor.
struct Dealt {
  int extent = 0;
  int first_block = 1;
  int block = 1;
  int source = 0;

  int owner(int index, int processes) const {
    const int number = index < first_block ? 0 : 1 + (index - first_block) / block;
    return (source + number) % processes;
  }
  /// The indices of a process, increasing.
  std::vector<int> indices(int coordinate, int processes) const {
    std::vector<int> mine;
    for (int i = 0; i < extent; ++i) {
      if (owner(i, processes) == coordinate) mine.push_back(i);
    }
    return mine;
  }
};

/// What blocks a random descriptor may have.
struct Blocks {
  int shortest = 1;
  int longest = 9;
  int longest_first = 1;  ///< of a first block, in blocks
};

inline Dealt random_deal(Random& random, int extent, int processes, bool with_first, const Blocks& blocks) {
  Dealt deal{extent, 0, random(blocks.shortest, blocks.longest), random(0, processes - 1)};
  deal.first_block = with_first ? random(1, blocks.longest_first * deal.block) : deal.block;
  return deal;
}

/// Elements are numbers of the global index; the gap up to LLD holds canaries.
template <class T>
class Matrix {
 public:
  Matrix(Random& random, const BlacsGrid& grid, int rows, int columns, bool with_first,
         const Blocks& blocks = {})
      : Matrix{random, grid, random_deal(random, rows, grid.rows, with_first, blocks),
               random_deal(random, columns, grid.columns, with_first, blocks), with_first} {}

  Matrix(Random& random, const BlacsGrid& grid, const Dealt& rows, const Dealt& columns, bool with_first)
      : grid_(grid), rows_(rows), columns_(columns), with_first_(with_first) {
    const int gap = random(0, 3);
    my_rows_ = rows_.indices(grid.row, grid.rows);
    my_columns_ = columns_.indices(grid.column, grid.columns);
    leading_ = std::max(1, static_cast<int>(my_rows_.size())) + gap;
    values.assign(static_cast<std::size_t>(leading_) * my_columns_.size() + 1, canary());
  }

  static T canary() { return T(-777); }

  const Dealt& rows() const { return rows_; }
  const Dealt& columns() const { return columns_; }

  std::array<int, 11> descriptor() const {
    if (with_first_) {
      return {
          2,           grid_.context,  rows_.extent, columns_.extent, rows_.first_block, columns_.first_block,
          rows_.block, columns_.block, rows_.source, columns_.source, leading_};
    }
    return {1,           grid_.context,  rows_.extent, columns_.extent,
            rows_.block, columns_.block, rows_.source, columns_.source,
            leading_};
  }

  /// visit(i, j, element) of every local element.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (std::size_t j = 0; j < my_columns_.size(); ++j) {
      for (std::size_t i = 0; i < my_rows_.size(); ++i)
        visit(my_rows_[i], my_columns_[j], values[j * static_cast<std::size_t>(leading_) + i]);
    }
  }
  template <class Value>
  void fill(Value&& value) {
    for_each([&](int i, int j, T& element) { element = value(i, j); });
  }

  std::string text() const {
    std::string text;
    for (const int entry : descriptor()) text += std::to_string(entry) + " ";
    return text;
  }

  std::vector<T> values;

 private:
  BlacsGrid grid_;
  Dealt rows_;
  Dealt columns_;
  bool with_first_;
  int leading_ = 1;
  std::vector<int> my_rows_;
  std::vector<int> my_columns_;
};

/// A pseudo-random number of a global index, in [-1, 1), with an imaginary part where T has one.
template <class T>
T element(unsigned seed, int i, int j) {
  const auto mix = [](std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  };
  const std::uint64_t bits = mix((static_cast<std::uint64_t>(seed) << 40U) ^
                                 (static_cast<std::uint64_t>(i) << 20U) ^ static_cast<std::uint64_t>(j));
  const auto number = [](std::uint64_t x) { return static_cast<double>(x & 0xffffU) / 32768.0 - 1.0; };
  if constexpr (std::is_same_v<T, std::int32_t>) {
    return static_cast<std::int32_t>(bits & 0xffffU);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(number(bits));
  } else {
    using Real = typename T::value_type;
    return T(static_cast<Real>(number(bits)), static_cast<Real>(number(bits >> 20U)));
  }
}

template <class T>
T not_a_number() {
  if constexpr (std::is_floating_point_v<T>) {
    return std::numeric_limits<T>::quiet_NaN();
  } else {
    return T(std::numeric_limits<typename T::value_type>::quiet_NaN());
  }
}

template <class T>
double distance(const T& a, const T& b) {
  const double d = static_cast<double>(std::abs(a - b));
  return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

template <class T>
double precision() {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(std::numeric_limits<T>::epsilon());
  } else if constexpr (std::is_integral_v<T>) {
    return 0;
  } else {
    return static_cast<double>(std::numeric_limits<typename T::value_type>::epsilon());
  }
}

/// Bit for bit or within `tolerance`: whole local arrays, gaps included.
template <class T>
void expect_same(const std::vector<T>& ours, const std::vector<T>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(ours.size(), expected.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const bool close = distance(ours[i], expected[i]) <= tolerance;
    EXPECT_TRUE(close) << what << ": element " << i << " is " << ours[i] << ", not " << expected[i];
    if (!close) return;
  }
}

inline int processes() {
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

/// Grids that these processes have room for, made once: each is tried often.
inline const std::vector<BlacsGrid>& grids() {
  static const std::vector<BlacsGrid> all = [] {
    std::vector<BlacsGrid> made;
    for (const auto& [rows, columns] :
         {std::pair(1, 1), {1, 2}, {2, 1}, {2, 2}, {1, 3}, {3, 1}, {1, 4}, {4, 1}}) {
      if (rows * columns <= processes()) made.push_back(BlacsGrid::make(rows, columns));
    }
    if (processes() == 4) made.push_back(BlacsGrid::make(2, 2, "Col"));
    return made;
  }();
  return all;
}

inline const BlacsGrid& one_of_grids(Random& random) {
  return grids()[index(random(0, static_cast<int>(grids().size()) - 1))];
}

/// `extent` from a random place of a matrix that is a little larger.
struct Part {
  int from = 0;  ///< counted from 0
  int whole = 0;
};
inline Part random_part(Random& random, int extent) {
  const int from = random.maybe(0.3) ? 0 : random(0, 12);
  const int behind = random(0, 8);
  return {from, std::max(1, from + extent + behind)};
}

template <class T>
T conjugate_of(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    return std::conj(value);
  }
}

template <class T>
T random_scalar(Random& random) {
  const int kind = random(0, 3);
  if (kind < 2) return kind == 0 ? T(0) : T(1);
  return element<T>(7, random(0, 1000), 3);
}

}  // namespace partita::testing
