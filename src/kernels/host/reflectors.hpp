// QR factorizations of a column-major matrix on one rank, and the application of their reflectors.
#pragma once

#include <cstdint>

#include "kernels/host/column_matrix.hpp"

namespace partita::kernels {

// T: float, double or complex of these. All functions are thread-safe and allocate nothing. Rows and the
// distance of columns must fit 32 bits (`fits_lapack`).

/// A = Q R in the form of LAPACK's geqrf, in blocks of columns that geqrt factorizes by recursion (Elmroth
/// and Gustavson 2000). `tau`: min(rows, columns). `workspace`: of so many elements as factor_qr_workspace
/// says.
template <class T>
void factor_qr(const ColumnMatrix<T>& panel, T* tau, T* workspace);
template <class T>
std::int64_t factor_qr_workspace(std::int64_t rows, std::int64_t columns);

/// A product of k Householder reflectors I - tau v v^H as geqrf stores them, in the form I - V T V^H
/// (Schreiber and Van Loan 1989), in memory of the caller.
template <class T>
class BlockReflector {
 public:
  static constexpr std::int64_t most_reflectors = 128, most_columns = 1024;  ///< applied at a time
  /// Elements of workspace for k reflectors on so many columns.
  static std::int64_t workspace(std::int64_t k, std::int64_t columns);

  /// `reflectors`: [m, k], m >= k, k at most most_reflectors; below its diagonal. Refers to it and to the
  /// workspace.
  BlockReflector(const ColumnMatrix<const T>& reflectors, const T* tau, T* workspace);
  /// to = Q to, or Q^H to. `to`: [m, n], not more columns than the workspace is for.
  void apply(const ColumnMatrix<T>& to, bool adjoint) const;

 private:
  void form_t(std::int64_t first, std::int64_t count, const T* tau) const;
  void form_small_t(std::int64_t first, std::int64_t count, const T* tau) const;
  void apply_to_some(const ColumnMatrix<T>& to, bool adjoint) const;

  std::int64_t k_;
  ColumnMatrix<T> top_;           // [k, k]: V's first rows, with ones and zeros
  ColumnMatrix<const T> bottom_;  // V's other rows
  ColumnMatrix<T> t_;             // [k, k], upper; the elements below the diagonal are undefined
  T* sums_;                       // [n, k]
};

}  // namespace partita::kernels
