// Factorizations of a column-major matrix on one rank, over LAPACK, and the operations that apply them.
#pragma once

#include <cstdint>
#include <partita/op.hpp>

#include "kernels/host/column_matrix.hpp"

namespace partita::kernels {

// T: float, double or complex of these. All functions are thread-safe and, except where said, allocate
// nothing. Rows and the distance of columns must fit 32 bits (`fits_lapack`).

/// Whether LAPACK, which counts in 32 bits, takes such a matrix.
bool fits_lapack(std::int64_t rows, std::int64_t columns, std::int64_t leading);

/// L of the first `columns` rows by potrf, whose upper triangle is neither read nor written, and of the rows
/// below. Returns 0, or the order of the first leading minor that is not positive definite.
template <class T>
std::int32_t factor_cholesky(const ColumnMatrix<T>& panel);

/// getrf. `pivots`: min(rows, columns), counted from 0. Returns 0, or the first pivot, counted from 1, that
/// is exactly 0.
template <class T>
std::int32_t factor_lu(const ColumnMatrix<T>& panel, std::int32_t* pivots);

/// Exchanges rows i and pivots[i] for i = 0, .., count - 1, or backward.
template <class T>
void exchange_rows(const ColumnMatrix<T>& to, const std::int32_t* pivots, std::int64_t count, bool backward);

/// The form of a triangular solve: see TriangularSolve.
struct TriangularForm {
  Op op = Op::none;
  bool upper = false;
  bool unit_diagonal = false;
  bool from_right = false;
};
/// to = op(triangle)^-1 to, or to op(triangle)^-1.
template <class T>
void solve_triangular(const TriangularForm& form, const ColumnMatrix<const T>& triangle,
                      const ColumnMatrix<T>& to);

}  // namespace partita::kernels
