// Matrices of numbers, and what tests of factorizations make of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <partita/op.hpp>
#include <utility>
#include <vector>

namespace partita::testing::factorization_works {

using Entry = std::complex<double>;

/// A matrix of numbers, column-major.
struct DenseMatrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<Entry> numbers;

  DenseMatrix(std::int64_t m, std::int64_t n)
      : rows(m), columns(n), numbers(static_cast<std::size_t>(m * n)) {}
  Entry& operator()(std::int64_t i, std::int64_t j) {
    return numbers[static_cast<std::size_t>(i + j * rows)];
  }
  Entry operator()(std::int64_t i, std::int64_t j) const {
    return numbers[static_cast<std::size_t>(i + j * rows)];
  }
  /// The largest sum of absolute values of a column.
  double norm() const {
    double largest = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) sum += std::abs((*this)(i, j));
      largest = std::isnan(sum) ? sum : std::max(largest, sum);
    }
    return largest;
  }
};

inline DenseMatrix operator*(const DenseMatrix& a, const DenseMatrix& b) {
  DenseMatrix c(a.rows, b.columns);
  for (std::int64_t j = 0; j < b.columns; ++j) {
    for (std::int64_t l = 0; l < a.columns; ++l) {
      for (std::int64_t i = 0; i < a.rows; ++i) c(i, j) += a(i, l) * b(l, j);
    }
  }
  return c;
}

inline DenseMatrix operator-(DenseMatrix a, const DenseMatrix& b) {
  for (std::size_t i = 0; i < a.numbers.size(); ++i) a.numbers[i] -= b.numbers[i];
  return a;
}

inline DenseMatrix adjoint(const DenseMatrix& a) {
  DenseMatrix b(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) b(j, i) = std::conj(a(i, j));
  }
  return b;
}

inline DenseMatrix op_of(const DenseMatrix& a, Op op) {
  DenseMatrix b = op == Op::none || op == Op::conjugate ? a : adjoint(a);
  for (Entry& x : b.numbers) {
    if (op == Op::transpose || op == Op::conjugate) x = std::conj(x);
  }
  return b;
}

inline DenseMatrix part_of(const DenseMatrix& a, std::int64_t rows, std::int64_t columns) {
  DenseMatrix b(rows, columns);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) b(i, j) = a(i, j);
  }
  return b;
}

inline DenseMatrix triangle_of(const DenseMatrix& a, bool upper, bool unit) {
  DenseMatrix t(a.rows, a.columns);
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (upper ? i <= j : i >= j) t(i, j) = i == j && unit ? 1 : a(i, j);
    }
  }
  return t;
}

inline DenseMatrix exchanged(DenseMatrix a, const DenseMatrix& pivots, bool backward = false) {
  for (std::int64_t step = 0; step < pivots.rows; ++step) {
    const std::int64_t i = backward ? pivots.rows - 1 - step : step;
    const auto other = static_cast<std::int64_t>(pivots(i, 0).real());
    for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a(i, j), a(other, j));
  }
  return a;
}

}  // namespace partita::testing::factorization_works
