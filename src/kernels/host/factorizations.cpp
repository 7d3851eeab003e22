#include "kernels/host/factorizations.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/check.hpp"
#include "kernels/host/gemm.hpp"
#include "kernels/host/lapack_library.hpp"

namespace partita::kernels {
namespace {

constexpr std::int64_t most_of_lapack = std::numeric_limits<int>::max();
// Columns of one triangular solve of BLAS: a multiple of all its blocks.
constexpr std::int64_t most_solved = std::int64_t{1} << 30;

int int_size(std::int64_t size) {
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
std::int32_t checked_info(const char* function, int info) {
  invariant(info >= 0, "argument {} of LAPACK's {} is invalid", -info, function);
  return info;
}

template <class T>
void call_trsm(const TriangularForm& form, const ColumnMatrix<const T>& triangle, const ColumnMatrix<T>& to) {
  constexpr std::string_view operations = "NTCR";
  const char side = form.from_right ? 'R' : 'L', diagonal = form.unit_diagonal ? 'U' : 'N',
             which = form.upper ? 'U' : 'L', operation = operations[static_cast<std::size_t>(form.op)];
  const int m = int_size(to.rows), n = int_size(to.columns), leading_t = leading_of(triangle),
            leading = leading_of(to);
  const T one(1);
  lapack<T>().trsm(&side, &which, &operation, &diagonal, &m, &n, &one, triangle.data, &leading_t, to.data,
                   &leading, 1, 1, 1, 1);
}

/// c = alpha op(a) b + beta c, where op(a) is a or, if `adjoint`, its conjugate transpose.
template <class T>
void multiply_columns(T alpha, const ColumnMatrix<const T>& a, bool adjoint, const ColumnMatrix<const T>& b,
                      T beta, const ColumnMatrix<T>& c) {
  const Matrix<const T> left = strided(a);
  gemm(alpha, adjoint ? left.transposed() : left, adjoint, strided(b), false, beta, strided(c));
}

}  // namespace

bool fits_lapack(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  return std::max(rows, columns) <= most_of_lapack && (columns <= 1 || leading <= most_of_lapack);
}

template <class T>
std::int32_t factor_cholesky(const ColumnMatrix<T>& panel) {
  const std::int64_t n = panel.columns;
  if (n == 0) return 0;
  const int size = int_size(n), leading = leading_of(panel);
  int info = 0;
  lapack<T>().potrf("L", &size, panel.data, &leading, &info, 1);
  const std::int64_t good = checked_info("potrf", info) > 0 ? info - 1 : n;
  // OpenBLAS goes on after a pivot that is NaN, which LAPACK reports.
  for (std::int64_t j = 0; j < good; ++j) {
    if (std::isnan(std::real(panel.data[j + j * panel.leading]))) return static_cast<std::int32_t>(j + 1);
  }
  if (info > 0 || panel.rows == n) return info;
  const ColumnMatrix<T> below = panel.part(n, 0, panel.rows - n, n);
  solve_triangular<T>({Op::conjugate_transpose, false, false, true}, panel.part(0, 0, n, n).read(), below);
  return 0;
}

template <class T>
std::int32_t factor_lu(const ColumnMatrix<T>& panel, std::int32_t* pivots) {
  const std::int64_t k = std::min(panel.rows, panel.columns);
  if (k == 0) return 0;
  const int m = int_size(panel.rows), n = int_size(panel.columns), leading = leading_of(panel);
  int info = 0;
  lapack<T>().getrf(&m, &n, panel.data, &leading, pivots, &info);
  for (std::int64_t i = 0; i < k; ++i) --pivots[i];
  return checked_info("getrf", info);
}

template <class T>
void factor_qr(const ColumnMatrix<T>& panel, T* tau, T* workspace, std::int64_t elements) {
  if (std::min(panel.rows, panel.columns) == 0) return;
  const int m = int_size(panel.rows), n = int_size(panel.columns), leading = leading_of(panel);
  const int size = int_size(std::min(elements, most_of_lapack));
  int info = 0;
  lapack<T>().geqrf(&m, &n, panel.data, &leading, tau, workspace, &size, &info);
  checked_info("geqrf", info);
}

template <class T>
std::int64_t factor_qr_workspace(std::int64_t rows, std::int64_t columns) {
  if (std::min(rows, columns) == 0) return 0;
  const int m = int_size(rows), n = int_size(columns), query = -1;
  int info = 0;
  T best(0), none(0);
  lapack<T>().geqrf(&m, &n, &none, &m, &none, &best, &query, &info);
  checked_info("geqrf", info);
  return std::max(columns, static_cast<std::int64_t>(std::real(best)));
}

template <class T>
void exchange_rows(const ColumnMatrix<T>& to, const std::int32_t* pivots, std::int64_t count, bool backward) {
  for (std::int64_t j = 0; j < to.columns; ++j) {
    T* const column = to.data + j * to.leading;
    if (backward) {
      for (std::int64_t i = count; i-- > 0;) std::swap(column[i], column[pivots[i]]);
    } else {
      for (std::int64_t i = 0; i < count; ++i) std::swap(column[i], column[pivots[i]]);
    }
  }
}

template <class T>
void solve_triangular(const TriangularForm& form, const ColumnMatrix<const T>& triangle,
                      const ColumnMatrix<T>& to) {
  if (to.rows == 0 || to.columns == 0) return;
  // Along the dimension that the triangle does not have.
  const std::int64_t size = form.from_right ? to.rows : to.columns;
  for (std::int64_t first = 0; first < size; first += most_solved) {
    const std::int64_t some = std::min(most_solved, size - first);
    call_trsm(form, triangle,
              form.from_right ? to.part(first, 0, some, to.columns) : to.part(0, first, to.rows, some));
  }
}

// --- reflectors

template <class T>
std::int64_t BlockReflector<T>::workspace(std::int64_t k, std::int64_t columns) {
  return 2 * k * k + 2 * k * std::clamp(columns, k, std::max(k, most_columns));
}

template <class T>
BlockReflector<T>::BlockReflector(const ColumnMatrix<const T>& reflectors, const T* tau, T* workspace)
    : k_(reflectors.columns),
      top_{workspace, k_, k_, k_},
      bottom_(reflectors.part(k_, 0, reflectors.rows - k_, k_)),
      t_{workspace + k_ * k_, k_, k_, k_},
      sums_(workspace + 2 * k_ * k_) {
  const auto at = [](const auto& matrix, std::int64_t i, std::int64_t j) -> auto& {
    return matrix.data[i + j * matrix.leading];
  };
  for (std::int64_t j = 0; j < k_; ++j) {
    for (std::int64_t i = 0; i < k_; ++i)
      at(top_, i, j) = i < j ? T(0) : i == j ? T(1) : at(reflectors, i, j);
  }
  // V^H V, whose part above the diagonal is used.
  const ColumnMatrix<T> products{sums_, k_, k_, k_};
  multiply_columns(T(1), top_.read(), true, top_.read(), T(0), products);
  multiply_columns(T(1), bottom_, true, bottom_, T(1), products);
  for (std::int64_t j = 0; j < k_; ++j) {
    for (std::int64_t i = 0; i < k_; ++i) at(t_, i, j) = i == j ? tau[j] : T(0);
    for (std::int64_t l = 0; l < j; ++l) {
      const T factor = -tau[j] * at(products, l, j);
      for (std::int64_t i = 0; i <= l; ++i) at(t_, i, j) += at(t_, i, l) * factor;
    }
  }
}

template <class T>
void BlockReflector<T>::apply(const ColumnMatrix<T>& to, bool adjoint) const {
  const std::int64_t most = std::max(k_, most_columns);
  for (std::int64_t j = 0; j < to.columns; j += most)
    apply_to_some(to.part(0, j, to.rows, std::min(most, to.columns - j)), adjoint);
}

template <class T>
void BlockReflector<T>::apply_to_some(const ColumnMatrix<T>& to, bool adjoint) const {
  const std::int64_t n = to.columns;
  const ColumnMatrix<T> first = to.part(0, 0, k_, n), rest = to.part(k_, 0, to.rows - k_, n);
  const ColumnMatrix<T> sums{sums_, k_, n, k_}, weights{sums_ + k_ * n, k_, n, k_};
  multiply_columns(T(1), top_.read(), true, first.read(), T(0), sums);
  multiply_columns(T(1), bottom_, true, rest.read(), T(1), sums);
  multiply_columns(T(1), t_.read(), adjoint, sums.read(), T(0), weights);
  multiply_columns(T(-1), top_.read(), false, weights.read(), T(1), first);
  multiply_columns(T(-1), bottom_, false, weights.read(), T(1), rest);
}

#define PARTITA_FACTORIZATIONS(T)                                                               \
  template std::int32_t factor_cholesky(const ColumnMatrix<T>&);                                \
  template std::int32_t factor_lu(const ColumnMatrix<T>&, std::int32_t*);                       \
  template void factor_qr(const ColumnMatrix<T>&, std::add_pointer_t<T>, std::add_pointer_t<T>, \
                          std::int64_t);                                                        \
  template std::int64_t factor_qr_workspace<T>(std::int64_t, std::int64_t);                     \
  template void exchange_rows(const ColumnMatrix<T>&, const std::int32_t*, std::int64_t, bool); \
  template void solve_triangular(const TriangularForm&, const ColumnMatrix<const T>&,           \
                                 const ColumnMatrix<T>&);                                       \
  template class BlockReflector<T>;
PARTITA_FACTORIZATIONS(float)
PARTITA_FACTORIZATIONS(double)
PARTITA_FACTORIZATIONS(std::complex<float>)
PARTITA_FACTORIZATIONS(std::complex<double>)
#undef PARTITA_FACTORIZATIONS

}  // namespace partita::kernels
