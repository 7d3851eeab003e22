// Calls of linear algebra, each made once by the drop-in and once by ScaLAPACK.
#pragma once

#include "matrix_model.hpp"

namespace partita::testing {

template <class T>
using Getrf = void(const int*, const int*, T*, const int*, const int*, const int*, int*, int*);
template <class T>
using Getrs = void(const char*, const int*, const int*, const T*, const int*, const int*, const int*,
                   const int*, T*, const int*, const int*, const int*, int*, std::size_t);
template <class T>
using Gesv = void(const int*, const int*, T*, const int*, const int*, const int*, int*, T*, const int*,
                  const int*, const int*, int*);
template <class T>
using Potrf = void(const char*, const int*, T*, const int*, const int*, const int*, int*, std::size_t);
/// Also p?posv, which writes A.
template <class T>
using Potrs = void(const char*, const int*, const int*, T*, const int*, const int*, const int*, T*,
                   const int*, const int*, const int*, int*, std::size_t);
template <class T>
using Geqrf = void(const int*, const int*, T*, const int*, const int*, const int*, T*, T*, const int*, int*);
template <class T>
using Gels = void(const char*, const int*, const int*, const int*, T*, const int*, const int*, const int*, T*,
                  const int*, const int*, const int*, T*, const int*, int*, std::size_t);
template <class T>
using Trsm = void(const char*, const char*, const char*, const char*, const int*, const int*, const T*,
                  const T*, const int*, const int*, const int*, T*, const int*, const int*, const int*);
template <class T, class Scalar>
using RankK = void(const char*, const char*, const int*, const int*, const Scalar*, const T*, const int*,
                   const int*, const int*, const Scalar*, T*, const int*, const int*, const int*);

/// A sub-matrix, with what a call names of it.
template <class T>
struct SubMatrixOf {
  Matrix<T> matrix;
  int from_row = 0;
  int from_column = 0;
  int ia = from_row + 1;
  int ja = from_column + 1;
  std::array<int, 11> descriptor = matrix.descriptor();

  T* data() { return matrix.values.data(); }
  bool holds(int i, int j, int m, int n) const {
    return i >= from_row && i < from_row + m && j >= from_column && j < from_column + n;
  }
  /// value(i, j) by indices in the sub-matrix of m x n; other elements are small numbers that must stay.
  template <class Value>
  void fill(int m, int n, Value&& value) {
    matrix.fill([&](int i, int j) {
      return holds(i, j, m, n) ? value(i - from_row, j - from_column) : element<T>(9, i, j);
    });
  }
  std::string text() const {
    return "(" + std::to_string(from_row) + "," + std::to_string(from_column) + ") of " + matrix.text();
  }
};

template <class T>
SubMatrixOf<T> random_sub_matrix(Random& random, const BlacsGrid& grid, int m, int n, bool with_first) {
  const Part rows = random_part(random, m), columns = random_part(random, n);
  return {Matrix<T>(random, grid, rows.whole, columns.whole, with_first), rows.from, columns.from};
}

/// A part that begins with a block.
struct AlignedPart {
  int from = 0;
  Dealt deal;
};
inline AlignedPart aligned_part(Random& random, int extent, int processes, int block) {
  AlignedPart part{block * random(0, 2), {}};
  part.deal = {part.from + extent + random(1, 8), block, block, random(0, processes - 1)};
  return part;
}

/// m x n with square blocks, as LU and Cholesky factorizations want it.
template <class T>
SubMatrixOf<T> aligned_sub_matrix(Random& random, const BlacsGrid& grid, int m, int n, int block) {
  const AlignedPart rows = aligned_part(random, m, grid.rows, block);
  const AlignedPart columns = aligned_part(random, n, grid.columns, block);
  return {Matrix<T>(random, grid, rows.deal, columns.deal, false), rows.from, columns.from};
}

/// Right-hand sides: their rows are distributed as those of a matrix that begin at `from`.
template <class T>
SubMatrixOf<T> right_sides(Random& random, const BlacsGrid& grid, int m, int r, const Dealt& rows, int from) {
  AlignedPart part = aligned_part(random, m, grid.rows, rows.block);
  part.deal.source = (rows.owner(from, grid.rows) + 3 * grid.rows - part.from / rows.block) % grid.rows;
  const Part columns = random_part(random, r);
  const Dealt dealt = random_deal(random, columns.whole, grid.columns, false, {});
  return {Matrix<T>(random, grid, part.deal, dealt, false), part.from, columns.from};
}

template <class T>
T number(int value) {
  return T(static_cast<decltype(std::abs(T()))>(value));
}

/// Positive definite, by one triangle.
template <class T>
T positive_element(int n, int i, int j) {
  if (i == j) return number<T>(2 * n + 1);
  return i > j ? element<T>(1, i, j) : conjugate_of(element<T>(1, j, i));
}

/// `run()` makes one call that is computed here: ScaLAPACK is not called.
template <class Run>
void expect_computed_here(Run&& run, const std::string& what) {
  const long computed = partita_scalapack_calls(), handed_on = partita_scalapack_calls_handed_on();
  run();
  EXPECT_EQ(partita_scalapack_calls(), computed + 1) << what;
  EXPECT_EQ(partita_scalapack_calls_handed_on(), handed_on) << what;
}

}  // namespace partita::testing
