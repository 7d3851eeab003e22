// The local matrix multiply on views, over OpenBLAS.
#pragma once

#include <cstdint>

namespace partita::kernels {

/// Extents and strides of a matrix, in elements.
struct MatrixShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;

  MatrixShape transposed() const { return {columns, rows, column_stride, row_stride}; }
};

/// A matrix in memory: element (i, j) is data[i * row_stride + j * column_stride], strides in elements.
template <class T>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;

  MatrixShape shape() const { return {rows, columns, row_stride, column_stride}; }
  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

/// The form in which BLAS can read a matrix in place. Strides along extents of 0 or 1 are ignored.
struct BlasForm {
  bool by_columns = false;  ///< the elements of a column are adjacent, and columns do not overlap
  bool by_rows = false;     ///< those of a row
  bool any() const { return by_columns || by_rows; }
};
BlasForm blas_form(const MatrixShape& matrix);

/// Whether BLAS can conjugate the matrix without a copy, depending on the order of the result: only together
/// with a transposition.
bool blas_conjugates(const BlasForm& form, bool result_by_columns);

/// A factor as an argument of BLAS for a column-major result: the operation, and the elements between
/// adjacent columns (or rows, if transposed). The matrix has a BlasForm, and `blas_conjugates` is true.
struct BlasFactor {
  bool transposed = false;
  std::int64_t leading = 1;
};
BlasFactor blas_factor(const MatrixShape& matrix, bool conjugated);

/// c = alpha a b + beta c, with a and b conjugated where said. All three must have a BlasForm (and
/// `blas_conjugates`); extents of any size. With beta = 0 `c` is never read; with alpha = 0 or no k neither
/// `a` nor `b` is. `a` and `b` may overlap each other, not `c`. T: float, double or complex of these.
/// Thread-safe. Throws UnsupportedError where there is no OpenBLAS.
template <class T>
void gemm(T alpha, const Matrix<const T>& a, bool conjugate_a, const Matrix<const T>& b, bool conjugate_b,
          T beta, const Matrix<T>& c);

/// c = beta c; with beta = 0 `c` is never read. Any strides. T: as above, or std::int32_t, which wraps
/// around.
template <class T>
void scale(T beta, const Matrix<T>& c);

}  // namespace partita::kernels
