#include "kernels/host/eigen_solvers.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/check.hpp"

namespace partita::kernels {
namespace {

template <class T>
constexpr bool has_parts = !std::is_same_v<T, RealType<T>>;

int checked_size(std::int64_t n) {
  check<UnsupportedError>(n <= 32766,
                          "eigenvalues of a matrix of {} rows on one rank: LAPACK's limit is 32766", n);
  return static_cast<int>(n);
}

void check_converged(const char* function, int info) {
  invariant(info >= 0, "argument {} of LAPACK's {} is invalid", -info, function);
  check<Error>(info == 0, "LAPACK's {} does not converge: {} values are missing", function, info);
}

/// The size that LAPACK answers with.
template <class T>
int answered(const T& size) {
  return static_cast<int>(std::real(size));
}

}  // namespace

template <class T>
void eigen_hermitian(const ColumnMatrix<T>& a, RealType<T>* values, bool vectors) {
  const int n = checked_size(a.rows), leading = static_cast<int>(std::max<std::int64_t>(a.leading, 1));
  if (n == 0) return;
  const char job = vectors ? 'V' : 'N';
  std::vector<T> work(1);
  std::vector<RealType<T>> real(1);
  std::vector<std::int64_t> integers(1);
  int sizes[3] = {-1, -1, -1}, info = 0;
  const auto call = [&] {
    if constexpr (has_parts<T>) {
      lapack<T>().heevd(&job, "L", &n, a.data, &leading, values, work.data(), &sizes[0], real.data(),
                        &sizes[1], integers.data(), &sizes[2], &info, 1, 1);
    } else {
      lapack<T>().syevd(&job, "L", &n, a.data, &leading, values, work.data(), &sizes[0], integers.data(),
                        &sizes[2], &info, 1, 1);
    }
    check_converged("eigenvalues (syevd, heevd)", info);
  };
  call();
  sizes[0] = answered(work[0]);
  sizes[1] = std::max(1, answered(real[0]));
  sizes[2] = std::max(1, integer_of(integers.data(), 0));
  work.resize(static_cast<std::size_t>(sizes[0]));
  real.resize(static_cast<std::size_t>(sizes[1]));
  integers.resize(static_cast<std::size_t>(sizes[2]));
  call();
}

template <class T>
void singular_values(const ColumnMatrix<T>& a, RealType<T>* values, bool vectors, const ColumnMatrix<T>& u,
                     const ColumnMatrix<T>& vh) {
  const int m = checked_size(a.rows), n = checked_size(a.columns), least = std::min(m, n);
  const int leading = static_cast<int>(std::max<std::int64_t>(a.leading, 1));
  if (least == 0) return;
  const char job = vectors ? 'S' : 'N';
  const int leading_u = vectors ? static_cast<int>(u.leading) : m;
  const int leading_vh = vectors ? static_cast<int>(vh.leading) : n;
  std::vector<T> work(1);
  const auto small = static_cast<std::size_t>(least), large = static_cast<std::size_t>(std::max(m, n));
  const std::size_t of_vectors = std::max(5 * small * small + 7 * small, 2 * small * (large + small) + small);
  std::vector<RealType<T>> real(has_parts<T> ? (vectors ? of_vectors : 7 * small) : 1);
  std::vector<std::int64_t> integers(8 * small);
  int size = -1, info = 0;
  const auto call = [&] {
    if constexpr (has_parts<T>) {
      lapack<T>().gesdd_complex(&job, &m, &n, a.data, &leading, values, u.data, &leading_u, vh.data,
                                &leading_vh, work.data(), &size, real.data(), integers.data(), &info, 1);
    } else {
      lapack<T>().gesdd(&job, &m, &n, a.data, &leading, values, u.data, &leading_u, vh.data, &leading_vh,
                        work.data(), &size, integers.data(), &info, 1);
    }
    check_converged("singular values (gesdd)", info);
  };
  call();
  size = answered(work[0]);
  work.resize(static_cast<std::size_t>(size));
  call();
}

#define PARTITA_EIGEN_SOLVERS(T)                                                                    \
  template void eigen_hermitian(const ColumnMatrix<T>&, RealType<T>*, bool);                        \
  template void singular_values(const ColumnMatrix<T>&, RealType<T>*, bool, const ColumnMatrix<T>&, \
                                const ColumnMatrix<T>&);
PARTITA_EIGEN_SOLVERS(float)
PARTITA_EIGEN_SOLVERS(double)
PARTITA_EIGEN_SOLVERS(std::complex<float>)
PARTITA_EIGEN_SOLVERS(std::complex<double>)
#undef PARTITA_EIGEN_SOLVERS

}  // namespace partita::kernels
