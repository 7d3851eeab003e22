#include "kernels/host/reflectors.hpp"

#include <algorithm>
#include <complex>
#include <type_traits>

#include "kernels/host/lapack_library.hpp"

namespace partita::kernels {
namespace {

// Columns that geqrt factorizes by recursion, and reflectors whose T is formed column by column.
constexpr std::int64_t small_block = 16;

template <class T>
T& at(const ColumnMatrix<T>& matrix, std::int64_t i, std::int64_t j) {
  return matrix.data[i + j * matrix.leading];
}

/// c = a^H b + beta c.
template <class T>
void multiply_adjoint(const ColumnMatrix<const T>& a, const ColumnMatrix<const T>& b, T beta,
                      const ColumnMatrix<T>& c) {
  gemm(T(1), strided(a).transposed(), true, strided(b), false, beta, strided(c));
}

/// c -= a b^H.
template <class T>
void subtract_product(const ColumnMatrix<const T>& a, const ColumnMatrix<const T>& b,
                      const ColumnMatrix<T>& c) {
  gemm(T(-1), strided(a), false, strided(b).transposed(), true, T(1), strided(c));
}

/// The upper triangle of c = a^H a + beta c.
template <class T>
void gram(const ColumnMatrix<const T>& a, RealType<T> beta, const ColumnMatrix<T>& c) {
  const int n = int_size(a.columns), m = int_size(a.rows), leading_a = leading_of(a), leading = leading_of(c);
  const RealType<T> one(1);
  lapack<T>().gram("U", std::is_same_v<T, RealType<T>> ? "T" : "C", &n, &m, &one, a.data, &leading_a, &beta,
                   c.data, &leading, 1, 1);
}

/// to = alpha t to, or with `from_right` alpha to op(t), for an upper triangle t.
template <class T>
void multiply_triangular(bool from_right, bool adjoint, T alpha, const ColumnMatrix<const T>& t,
                         const ColumnMatrix<T>& to) {
  const int m = int_size(to.rows), n = int_size(to.columns), leading_t = leading_of(t),
            leading = leading_of(to);
  lapack<T>().trmm(from_right ? "R" : "L", "U", adjoint ? "C" : "N", "N", &m, &n, &alpha, t.data, &leading_t,
                   to.data, &leading, 1, 1, 1, 1);
}

/// At most BlockReflector::most_reflectors columns, not more than rows.
template <class T>
void factor_narrow(const ColumnMatrix<T>& panel, T* tau, T* workspace) {
  const std::int64_t block = std::min(small_block, panel.columns);
  const int m = int_size(panel.rows), n = int_size(panel.columns), step = int_size(block),
            leading = leading_of(panel);
  const ColumnMatrix<T> t{workspace, block, panel.columns, block};
  int info = 0;
  lapack<T>().geqrt(&m, &n, &step, panel.data, &leading, t.data, &step, t.data + block * panel.columns,
                    &info);
  checked_info("geqrt", info);
  for (std::int64_t j = 0; j < panel.columns; ++j) tau[j] = at(t, j % block, j);
}

}  // namespace

template <class T>
void factor_qr(const ColumnMatrix<T>& panel, T* tau, T* workspace) {
  const std::int64_t least = std::min(panel.rows, panel.columns);
  std::int64_t count = 0;
  for (std::int64_t first = 0; first < least; first += count) {
    count = std::min(BlockReflector<T>::most_reflectors, least - first);
    const std::int64_t rows = panel.rows - first, rest = panel.columns - first - count;
    const ColumnMatrix<T> block = panel.part(first, first, rows, count);
    factor_narrow(block, tau + first, workspace);
    if (rest == 0) continue;
    const BlockReflector<T> reflector(block.read(), tau + first, workspace);
    reflector.apply(panel.part(first, first + count, rows, rest), true);
  }
}

template <class T>
std::int64_t factor_qr_workspace(std::int64_t rows, std::int64_t columns) {
  const std::int64_t count = std::min({rows, columns, BlockReflector<T>::most_reflectors});
  return std::max(2 * small_block * count,
                  columns > count ? BlockReflector<T>::workspace(count, columns - count) : 0);
}

template <class T>
std::int64_t BlockReflector<T>::workspace(std::int64_t k, std::int64_t columns) {
  return 2 * k * k + k * std::min(columns, most_columns);
}

template <class T>
BlockReflector<T>::BlockReflector(const ColumnMatrix<const T>& reflectors, const T* tau, T* workspace)
    : k_(reflectors.columns),
      top_{workspace, k_, k_, k_},
      bottom_(reflectors.part(k_, 0, reflectors.rows - k_, k_)),
      t_{workspace + k_ * k_, k_, k_, k_},
      sums_(workspace + 2 * k_ * k_) {
  for (std::int64_t j = 0; j < k_; ++j) {
    for (std::int64_t i = 0; i < k_; ++i)
      at(top_, i, j) = i < j ? T(0) : i == j ? T(1) : at(reflectors, i, j);
  }
  gram(top_.read(), RealType<T>(0), t_);
  gram(bottom_, RealType<T>(1), t_);
  form_t(0, k_, tau);
}

/// V^H V becomes T on the diagonal block of `count` reflectors: of two halves T = [T1, -T1 V1^H V2 T2; 0,
/// T2].
template <class T>
void BlockReflector<T>::form_t(std::int64_t first, std::int64_t count, const T* tau) const {
  if (count <= small_block) return form_small_t(first, count, tau);
  const std::int64_t half = count / 2, second = first + half, others = count - half;
  form_t(first, half, tau);
  form_t(second, others, tau);
  const ColumnMatrix<T> between = t_.part(first, second, half, others);
  multiply_triangular(false, false, T(-1), t_.part(first, first, half, half).read(), between);
  multiply_triangular(true, false, T(1), t_.part(second, second, others, others).read(), between);
}

template <class T>
void BlockReflector<T>::form_small_t(std::int64_t first, std::int64_t count, const T* tau) const {
  const ColumnMatrix<T> t = t_.part(first, first, count, count);
  for (std::int64_t j = 0; j < count; ++j) {
    const T factor = tau[first + j];
    at(t, j, j) = factor;
    for (std::int64_t i = 0; i < j; ++i) {
      T sum(0);
      for (std::int64_t l = i; l < j; ++l) sum += at(t, i, l) * at(t, l, j);
      at(t, i, j) = -factor * sum;
    }
  }
}

template <class T>
void BlockReflector<T>::apply(const ColumnMatrix<T>& to, bool adjoint) const {
  for (std::int64_t j = 0; j < to.columns; j += most_columns)
    apply_to_some(to.part(0, j, to.rows, std::min(most_columns, to.columns - j)), adjoint);
}

/// By (to^H V) op(T), [n, k]: BLAS copies the long factor, and is faster where it is the first.
template <class T>
void BlockReflector<T>::apply_to_some(const ColumnMatrix<T>& to, bool adjoint) const {
  const std::int64_t n = to.columns;
  const ColumnMatrix<T> first = to.part(0, 0, k_, n), rest = to.part(k_, 0, to.rows - k_, n);
  const ColumnMatrix<T> sums{sums_, n, k_, n};
  multiply_adjoint(first.read(), top_.read(), T(0), sums);
  multiply_adjoint(rest.read(), bottom_, T(1), sums);
  multiply_triangular(true, !adjoint, T(1), t_.read(), sums);
  subtract_product(top_.read(), sums.read(), first);
  subtract_product(bottom_, sums.read(), rest);
}

#define PARTITA_REFLECTORS(T)                                                                    \
  template void factor_qr(const ColumnMatrix<T>&, std::add_pointer_t<T>, std::add_pointer_t<T>); \
  template std::int64_t factor_qr_workspace<T>(std::int64_t, std::int64_t);                      \
  template class BlockReflector<T>;
PARTITA_REFLECTORS(float)
PARTITA_REFLECTORS(double)
PARTITA_REFLECTORS(std::complex<float>)
PARTITA_REFLECTORS(std::complex<double>)
#undef PARTITA_REFLECTORS

}  // namespace partita::kernels
