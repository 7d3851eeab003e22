#include "kernels/host/gemm.hpp"

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "kernels/host/blas_library.hpp"

namespace partita::kernels {
namespace {

// Sizes of one call: BLAS counts in 32 bits.
constexpr std::int64_t most_extent = std::int64_t{1} << 30;

/// The one of four functions that is for numbers of type T.
template <class T, class S, class D, class C, class Z>
auto one_for(S s, D d, C c, Z z) {
  if constexpr (std::is_same_v<T, float>) {
    return s;
  } else if constexpr (std::is_same_v<T, double>) {
    return d;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return c;
  } else {
    return z;
  }
}

template <class T>
Gemm<T> blas_gemm() {
  return one_for<T>(blas().sgemm, blas().dgemm, blas().cgemm, blas().zgemm);
}

template <class T>
Gemv<T> blas_gemv() {
  return one_for<T>(blas().sgemv, blas().dgemv, blas().cgemv, blas().zgemv);
}

// The elements of a line are adjacent, and the next line starts behind it.
bool adjacent(std::int64_t length, std::int64_t lines, std::int64_t stride, std::int64_t line_stride) {
  const bool dense = length <= 1 || stride == 1;
  const bool apart = lines <= 1 || (line_stride >= std::max<std::int64_t>(1, length) &&
                                    line_stride <= std::numeric_limits<int>::max());
  return dense && apart && (lines > 1 || length <= std::numeric_limits<int>::max());
}

/// As BLAS takes it when the result is stored by columns.
struct Operand32 {
  char transpose = 'N';
  int leading = 1;
};

template <class T>
Operand32 operand_of(const Matrix<T>& matrix, bool conjugated) {
  const auto [transposed, leading] = blas_factor(matrix.shape(), conjugated);
  return {conjugated ? 'C' : transposed ? 'T' : 'N', static_cast<int>(leading)};
}

template <class T>
Matrix<T> part(const Matrix<T>& matrix, std::int64_t row, std::int64_t column, std::int64_t rows,
               std::int64_t columns) {
  return {matrix.data + row * matrix.row_stride + column * matrix.column_stride, rows, columns,
          matrix.row_stride, matrix.column_stride};
}

template <class T>
struct Product {
  T alpha;
  Matrix<const T> a;
  bool conjugate_a;
  Matrix<const T> b;
  bool conjugate_b;
  T beta;
  Matrix<T> c;

  // A result by rows is a result by columns of the transposed problem:  C^T = B^T A^T.
  Product transposed() const {
    return {alpha, b.transposed(), conjugate_b, a.transposed(), conjugate_a, beta, c.transposed()};
  }
};

template <class T>
bool suits_columns(const Product<T>& product) {
  return blas_form(product.c.shape()).by_columns &&
         (!product.conjugate_a || blas_conjugates(blas_form(product.a.shape()), true)) &&
         (!product.conjugate_b || blas_conjugates(blas_form(product.b.shape()), true));
}

// One call; the result is stored by columns and all extents fit 32 bits.
template <class T>
void call(const Product<T>& product) {
  const Operand32 left = operand_of(product.a, product.conjugate_a);
  const Operand32 right = operand_of(product.b, product.conjugate_b);
  const Matrix<T>& c = product.c;
  const auto m = static_cast<int>(c.rows);
  const auto n = static_cast<int>(c.columns);
  const auto k = static_cast<int>(product.a.columns);
  const auto leading = static_cast<int>(std::max<std::int64_t>(1, n <= 1 ? c.rows : c.column_stride));
  blas_gemm<T>()(&left.transpose, &right.transpose, &m, &n, &k, &product.alpha, product.a.data, &left.leading,
                 product.b.data, &right.leading, &product.beta, c.data, &leading);
}

// --- few columns: gemm copies all of A, which takes longer than reading it

// Up to so many columns A is multiplied by each in turn, in blocks that stay in the cache: so long as that is
// faster than gemm, which copies rows of A less well than columns.
constexpr std::int64_t few_columns = 3, few_columns_on_rows = 4;
// A block of A: bytes of a line, and lines.
constexpr std::int64_t block_line = 8192, block_lines = 32;

/// Whether gemv takes it. Threads of BLAS share one gemv, but not so small ones as blocks are.
template <class T>
bool has_few_columns(const Product<T>& product) {
  const bool by_columns = blas_form(product.a.shape()).by_columns;
  if (product.conjugate_b || (product.conjugate_a && by_columns)) return false;
  if (product.c.columns == 1) return true;
  return product.c.columns <= (by_columns ? few_columns : few_columns_on_rows) && blas().threads() == 1;
}

/// A row that is contiguous both ways is a column transposed: gemv adds up along a column in registers.
template <class T>
Operand32 operand_of_gemv(const Matrix<T>& matrix, bool conjugated) {
  const bool is_row = matrix.rows == 1 && blas_form(matrix.shape()).by_rows;
  if (!is_row || conjugated) return operand_of(matrix, conjugated);
  return {'T', static_cast<int>(std::max<std::int64_t>(1, matrix.columns))};
}

/// c += alpha a b, a column of c.
template <class T>
void call_gemv(const Product<T>& product) {
  const Operand32 a = operand_of_gemv(product.a, product.conjugate_a);
  const bool by_columns = a.transpose == 'N';
  const auto m = static_cast<int>(by_columns ? product.a.rows : product.a.columns);
  const auto n = static_cast<int>(by_columns ? product.a.columns : product.a.rows);
  const auto step = [](std::int64_t elements, std::int64_t stride) {
    return static_cast<int>(elements <= 1 ? 1 : stride);
  };
  const int x_step = step(product.b.rows, product.b.row_stride);
  const int y_step = step(product.c.rows, product.c.row_stride);
  const T one(1);
  blas_gemv<T>()(&a.transpose, &m, &n, &product.alpha, product.a.data, &a.leading, product.b.data, &x_step,
                 &one, product.c.data, &y_step);
}

/// Columns of c one after the other, of each block of a. What c is multiplied by comes first: of beta = 0 not
/// all releases of BLAS know that c is not to be read.
template <class T>
void multiply_few_columns(const Product<T>& whole) {
  scale(whole.beta, whole.c);
  const std::int64_t m = whole.a.rows, k = whole.a.columns, n = whole.c.columns;
  const bool by_columns = blas_form(whole.a.shape()).by_columns;
  constexpr std::int64_t line = block_line / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t rows = n == 1 ? m : by_columns ? line : block_lines;
  const std::int64_t depth = n == 1 ? k : by_columns ? block_lines : line;
  for (std::int64_t l = 0; l < k; l += depth) {
    for (std::int64_t i = 0; i < m; i += rows) {
      Product<T> one = whole;
      one.a = part(whole.a, i, l, std::min(rows, m - i), std::min(depth, k - l));
      for (std::int64_t j = 0; j < n; ++j) {
        one.b = part(whole.b, l, j, one.a.columns, 1);
        one.c = part(whole.c, i, j, one.a.rows, 1);
        call_gemv(one);
      }
    }
  }
}

template <class T>
void split(const Product<T>& whole) {
  const std::int64_t k = whole.a.columns;
  for (std::int64_t l = 0; l < k; l += most_extent) {
    const std::int64_t depth = std::min(most_extent, k - l);
    for (std::int64_t j = 0; j < whole.c.columns; j += most_extent) {
      const std::int64_t columns = std::min(most_extent, whole.c.columns - j);
      for (std::int64_t i = 0; i < whole.c.rows; i += most_extent) {
        const std::int64_t rows = std::min(most_extent, whole.c.rows - i);
        Product<T> one = whole;
        one.a = part(whole.a, i, l, rows, depth);
        one.b = part(whole.b, l, j, depth, columns);
        one.c = part(whole.c, i, j, rows, columns);
        if (l > 0) one.beta = T(1);
        has_few_columns(one) ? multiply_few_columns(one) : call(one);
      }
    }
  }
}

}  // namespace

BlasForm blas_form(const MatrixShape& matrix) {
  const auto& [rows, columns, row_stride, column_stride] = matrix;
  return {adjacent(rows, columns, row_stride, column_stride),
          adjacent(columns, rows, column_stride, row_stride)};
}

bool blas_conjugates(const BlasForm& form, bool result_by_columns) {
  return result_by_columns ? form.by_rows : form.by_columns;
}

BlasFactor blas_factor(const MatrixShape& matrix, bool conjugated) {
  const auto leading = [](std::int64_t length, std::int64_t lines, std::int64_t stride) {
    return std::max<std::int64_t>(1, lines <= 1 ? length : stride);
  };
  if (!conjugated && blas_form(matrix).by_columns)
    return {false, leading(matrix.rows, matrix.columns, matrix.column_stride)};
  return {true, leading(matrix.columns, matrix.rows, matrix.row_stride)};
}

template <class T>
void scale(T beta, const Matrix<T>& c) {
  if (beta == T(1)) return;
  const bool rows_inside = std::abs(c.row_stride) < std::abs(c.column_stride);
  const Matrix<T> lines = rows_inside ? c.transposed() : c;
  for (std::int64_t i = 0; i < lines.rows; ++i) {
    T* const line = lines.data + i * lines.row_stride;
    for (std::int64_t j = 0; j < lines.columns; ++j) {
      T& element = line[j * lines.column_stride];
      if constexpr (std::is_integral_v<T>) {
        element = static_cast<T>(static_cast<std::uint32_t>(beta) * static_cast<std::uint32_t>(element));
      } else {
        element = beta == T(0) ? T(0) : beta * element;
      }
    }
  }
}

template <class T>
void gemm(T alpha, const Matrix<const T>& a, bool conjugate_a, const Matrix<const T>& b, bool conjugate_b,
          T beta, const Matrix<T>& c) {
  if (c.rows == 0 || c.columns == 0) return;
  if (a.columns == 0 || alpha == T(0)) return scale(beta, c);
  const bool conjugates = !std::is_floating_point_v<T>;
  const Product<T> product{alpha, a, conjugates && conjugate_a, b, conjugates && conjugate_b, beta, c};
  const bool few_rows = has_few_columns(product.transposed());
  if (few_rows || has_few_columns(product)) return split(few_rows ? product.transposed() : product);
  split(suits_columns(product) ? product : product.transposed());
}

template void scale(std::int32_t, const Matrix<std::int32_t>&);

#define PARTITA_GEMM(T)                     \
  template void scale(T, const Matrix<T>&); \
  template void gemm(T, const Matrix<const T>&, bool, const Matrix<const T>&, bool, T, const Matrix<T>&);
PARTITA_GEMM(float)
PARTITA_GEMM(double)
PARTITA_GEMM(std::complex<float>)
PARTITA_GEMM(std::complex<double>)
#undef PARTITA_GEMM

}  // namespace partita::kernels
