// Factorizations of a column-major matrix on one rank, over LAPACK, and the operations that apply them.
#pragma once

#include <cstdint>
#include <partita/op.hpp>

namespace partita::kernels {

/// A column-major matrix in memory: element (i, j) is data[i + j * leading].
template <class T>
struct ColumnMatrix {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 1;  ///< elements between adjacent columns, at least max(1, rows)

  ColumnMatrix part(std::int64_t row, std::int64_t column, std::int64_t of_rows,
                    std::int64_t of_columns) const {
    return {data + row + column * leading, of_rows, of_columns, leading};
  }
  ColumnMatrix<const T> read() const { return {data, rows, columns, leading}; }
};

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

/// geqrf. `tau`: min(rows, columns). `workspace`: of so many elements as factor_qr_workspace says.
template <class T>
void factor_qr(const ColumnMatrix<T>& panel, T* tau, T* workspace, std::int64_t elements);
template <class T>
std::int64_t factor_qr_workspace(std::int64_t rows, std::int64_t columns);

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

/// A product of k Householder reflectors I - tau v v^H as geqrf stores them, in the form I - V T V^H
/// (Schreiber and Van Loan 1989), in memory of the caller.
template <class T>
class BlockReflector {
 public:
  static constexpr std::int64_t most_reflectors = 64, most_columns = 512;  ///< applied at a time
  /// Elements of workspace for k reflectors on so many columns.
  static std::int64_t workspace(std::int64_t k, std::int64_t columns);

  /// `reflectors`: [m, k], m >= k, k at most most_reflectors; below its diagonal. Refers to it and to the
  /// workspace.
  BlockReflector(const ColumnMatrix<const T>& reflectors, const T* tau, T* workspace);
  /// to = Q to, or Q^H to. `to`: [m, n], not more columns than the workspace is for.
  void apply(const ColumnMatrix<T>& to, bool adjoint) const;

 private:
  void apply_to_some(const ColumnMatrix<T>& to, bool adjoint) const;

  std::int64_t k_;
  ColumnMatrix<T> top_;           // [k, k]: V's first rows, with ones and zeros
  ColumnMatrix<const T> bottom_;  // V's other rows
  ColumnMatrix<T> t_;             // [k, k], upper, with zeros
  T* sums_;                       // [k, n] twice
};

}  // namespace partita::kernels
