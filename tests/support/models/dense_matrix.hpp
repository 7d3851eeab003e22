// Whole matrices in double precision, and the ratios of LAPACK's tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/op.hpp>
#include <random>
#include <utility>
#include <vector>

namespace partita::testing {

using Entry = std::complex<double>;

/// A matrix of numbers, column-major.
struct DenseMatrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<Entry> numbers;

  DenseMatrix() = default;
  DenseMatrix(std::int64_t m, std::int64_t n)
      : rows(m), columns(n), numbers(static_cast<std::size_t>(m * n)) {}
  Entry& operator()(std::int64_t i, std::int64_t j) {
    return numbers[static_cast<std::size_t>(i + j * rows)];
  }
  Entry operator()(std::int64_t i, std::int64_t j) const {
    return numbers[static_cast<std::size_t>(i + j * rows)];
  }
  /// The largest sum of absolute values of a column; NaN if a number is.
  double norm() const {
    double largest = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) sum += std::abs((*this)(i, j));
      if (std::isnan(sum)) return sum;
      largest = std::max(largest, sum);
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

/// 1 on the diagonal.
inline DenseMatrix identity(std::int64_t m, std::int64_t n) {
  DenseMatrix a(m, n);
  for (std::int64_t i = 0; i < std::min(m, n); ++i) a(i, i) = 1;
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

/// The first rows and columns.
inline DenseMatrix part_of(const DenseMatrix& a, std::int64_t rows, std::int64_t columns) {
  DenseMatrix b(rows, columns);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) b(i, j) = a(i, j);
  }
  return b;
}

/// A triangle with the diagonal (`unit`: with ones there), and zeros elsewhere.
inline DenseMatrix triangle_of(const DenseMatrix& a, bool upper, bool unit) {
  DenseMatrix t(a.rows, a.columns);
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (upper ? i <= j : i >= j) t(i, j) = i == j && unit ? 1 : a(i, j);
    }
  }
  return t;
}

/// The Hermitian matrix with this lower triangle.
inline DenseMatrix hermitian_of(const DenseMatrix& lower) {
  DenseMatrix a = triangle_of(lower, false, false);
  for (std::int64_t j = 0; j < a.columns; ++j) {
    a(j, j) = a(j, j).real();
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::conj(a(j, i));
  }
  return a;
}

/// Rows i and pivots(i) exchanged for i = 0, 1, ... (`backward`: from the last i to the first).
inline DenseMatrix exchanged(DenseMatrix a, const DenseMatrix& pivots, bool backward = false) {
  for (std::int64_t step = 0; step < pivots.rows; ++step) {
    const std::int64_t i = backward ? pivots.rows - 1 - step : step;
    const auto other = static_cast<std::int64_t>(pivots(i, 0).real());
    for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a(i, j), a(other, j));
  }
  return a;
}

inline Entry random_entry(std::mt19937_64& random, bool is_complex) {
  const auto next = [&] { return std::uniform_real_distribution<double>(-1, 1)(random); };
  const double real = next();
  return {real, is_complex ? next() : 0};
}

inline DenseMatrix random_matrix(std::mt19937_64& random, std::int64_t m, std::int64_t n, bool is_complex) {
  DenseMatrix a(m, n);
  for (Entry& x : a.numbers) x = random_entry(random, is_complex);
  return a;
}

/// Below this, LAPACK's tests pass.
inline constexpr double most_ratio = 30;

/// Half the distance from 1 to the next number.
inline double epsilon_of(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::c64 ? 0x1p-24 : 0x1p-53;
}

/// |difference| / (scale size epsilon), as in LAPACK's tests.
inline double ratio(const DenseMatrix& difference, double scale, std::int64_t size, double epsilon) {
  const double of = scale * static_cast<double>(std::max<std::int64_t>(size, 1)) * epsilon;
  return of == 0 ? difference.norm() : difference.norm() / of;
}
inline double ratio(const DenseMatrix& difference, const DenseMatrix& scale, std::int64_t size,
                    double epsilon) {
  return ratio(difference, scale.norm(), size, epsilon);
}

}  // namespace partita::testing
