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

/// Workspace of the functions of eigenvalues, which are called twice: first they answer with its sizes.
template <class T>
struct EigenWork {
  std::vector<T> numbers = std::vector<T>(1);
  std::vector<RealType<T>> reals = std::vector<RealType<T>>(1);
  std::vector<std::int64_t> integers = std::vector<std::int64_t>(1);
  int size = -1, reals_size = -1, integers_size = -1;

  template <class Call>
  void call_twice(const Call& call) {
    call();
    size = answered(numbers[0]);
    reals_size = std::max(1, answered(reals[0]));
    integers_size = std::max(1, integer_of(integers.data(), 0));
    numbers.resize(static_cast<std::size_t>(size));
    reals.resize(static_cast<std::size_t>(reals_size));
    integers.resize(static_cast<std::size_t>(integers_size));
    call();
  }
};

}  // namespace

template <class T>
void eigen_hermitian(const ColumnMatrix<T>& a, RealType<T>* values, bool vectors) {
  const int n = checked_size(a.rows), leading = leading_of(a);
  if (n == 0) return;
  const char job = vectors ? 'V' : 'N';
  EigenWork<T> work;
  int info = 0;
  work.call_twice([&] {
    if constexpr (has_parts<T>) {
      lapack<T>().heevd(&job, "L", &n, a.data, &leading, values, work.numbers.data(), &work.size,
                        work.reals.data(), &work.reals_size, work.integers.data(), &work.integers_size, &info,
                        1, 1);
    } else {
      lapack<T>().syevd(&job, "L", &n, a.data, &leading, values, work.numbers.data(), &work.size,
                        work.integers.data(), &work.integers_size, &info, 1, 1);
    }
    check_converged("eigenvalues (syevd, heevd)", info);
  });
}

namespace {

/// By bisection and inverse iteration, behind the reduction to a tridiagonal matrix.
template <class T>
void few_eigenvectors(const ColumnMatrix<T>& a, std::int64_t first, RealType<T>* values,
                      const ColumnMatrix<T>& vectors) {
  const int n = checked_size(a.rows), leading = leading_of(a), to = leading_of(vectors);
  const int from = static_cast<int>(first) + 1, last = static_cast<int>(first + vectors.columns);
  const RealType<T> unused = 0;
  std::vector<RealType<T>> all(static_cast<std::size_t>(n));
  std::vector<std::int64_t> support(2 * static_cast<std::size_t>(n));
  EigenWork<T> work;
  int info = 0, found = 0;
  work.call_twice([&] {
    if constexpr (has_parts<T>) {
      lapack<T>().heevr("V", "I", "L", &n, a.data, &leading, &unused, &unused, &from, &last, &unused, &found,
                        all.data(), vectors.data, &to, support.data(), work.numbers.data(), &work.size,
                        work.reals.data(), &work.reals_size, work.integers.data(), &work.integers_size, &info,
                        1, 1, 1);
    } else {
      lapack<T>().syevr("V", "I", "L", &n, a.data, &leading, &unused, &unused, &from, &last, &unused, &found,
                        all.data(), vectors.data, &to, support.data(), work.numbers.data(), &work.size,
                        work.integers.data(), &work.integers_size, &info, 1, 1, 1);
    }
    check_converged("eigenvalues (syevr, heevr)", info);
  });
  std::copy_n(all.begin(), vectors.columns, values);
}

}  // namespace

template <class T>
void some_eigenvectors(const ColumnMatrix<T>& a, std::int64_t first, RealType<T>* values,
                       const ColumnMatrix<T>& vectors) {
  // Inverse iteration of a quarter of all takes three quarters of the time of all of them: 1500 rows, f64.
  constexpr std::int64_t least_share = 4;
  if (vectors.columns == 0) return;
  if (vectors.columns * least_share <= a.rows) return few_eigenvectors(a, first, values, vectors);
  std::vector<RealType<T>> all(static_cast<std::size_t>(a.rows));
  eigen_hermitian(a, all.data(), true);
  std::copy_n(all.begin() + first, vectors.columns, values);
  for (std::int64_t j = 0; j < vectors.columns; ++j)
    std::copy_n(a.data + (first + j) * a.leading, a.rows, vectors.data + j * vectors.leading);
}

template <class T>
void singular_values(const ColumnMatrix<T>& a, RealType<T>* values, bool vectors, const ColumnMatrix<T>& u,
                     const ColumnMatrix<T>& vh) {
  const int m = checked_size(a.rows), n = checked_size(a.columns), least = std::min(m, n);
  const int leading = leading_of(a);
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
  template void some_eigenvectors(const ColumnMatrix<T>&, std::int64_t, RealType<T>*,               \
                                  const ColumnMatrix<T>&);                                          \
  template void singular_values(const ColumnMatrix<T>&, RealType<T>*, bool, const ColumnMatrix<T>&, \
                                const ColumnMatrix<T>&);
PARTITA_EIGEN_SOLVERS(float)
PARTITA_EIGEN_SOLVERS(double)
PARTITA_EIGEN_SOLVERS(std::complex<float>)
PARTITA_EIGEN_SOLVERS(std::complex<double>)
#undef PARTITA_EIGEN_SOLVERS

}  // namespace partita::kernels
