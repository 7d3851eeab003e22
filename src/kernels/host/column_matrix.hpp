// Column-major matrices in memory, and how LAPACK takes them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/check.hpp"
#include "kernels/host/gemm.hpp"

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

/// Sizes are checked where works are bound.
inline int int_size(std::int64_t size) {
  return static_cast<int>(size);
}

template <class T>
int leading_of(const ColumnMatrix<T>& matrix) {
  return int_size(std::max<std::int64_t>(1, matrix.columns <= 1 ? matrix.rows : matrix.leading));
}

template <class T>
Matrix<T> strided(const ColumnMatrix<T>& matrix) {
  return {matrix.data, matrix.rows, matrix.columns, 1, matrix.leading};
}

/// An argument of LAPACK that it refuses is a fault of this library.
inline std::int32_t checked_info(const char* function, int info) {
  invariant(info >= 0, "argument {} of LAPACK's {} is invalid", -info, function);
  return info;
}

}  // namespace partita::kernels
