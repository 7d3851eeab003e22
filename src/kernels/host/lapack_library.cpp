#include "kernels/host/lapack_library.hpp"

#include <complex>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/check.hpp"
#include "kernels/host/blas_library.hpp"

namespace partita::kernels {
namespace {

template <class T>
constexpr char letter_of_type = std::is_same_v<T, float>                 ? 's'
                                : std::is_same_v<T, double>              ? 'd'
                                : std::is_same_v<T, std::complex<float>> ? 'c'
                                                                         : 'z';

template <class T, auto member>
void find_lapack(const char* name, LapackFunctions<T>& functions) {
  const std::string whole = letter_of_type<T> + std::string(name);
  blas().find_function<member>(whole, functions.*member);
  check<UnsupportedError>(functions.*member != nullptr,
                          "{} has no {}: factorizations in host memory require an OpenBLAS that contains "
                          "LAPACK; install the package libopenblas0-pthread, or scipy-openblas32 by pip",
                          blas().path(), whole);
}

template <class T>
LapackFunctions<T> find_all() {
  using F = LapackFunctions<T>;
  F functions;
  find_lapack<T, &F::potrf>("potrf", functions);
  find_lapack<T, &F::getrf>("getrf", functions);
  find_lapack<T, &F::geqrt>("geqrt", functions);
  find_lapack<T, &F::trsm>("trsm", functions);
  find_lapack<T, &F::trsv>("trsv", functions);
  find_lapack<T, &F::trmm>("trmm", functions);
  if constexpr (std::is_same_v<T, RealType<T>>) {
    find_lapack<T, &F::gram>("syrk", functions);
    find_lapack<T, &F::syevd>("syevd", functions);
    find_lapack<T, &F::syevr>("syevr", functions);
    find_lapack<T, &F::gesdd>("gesdd", functions);
  } else {
    find_lapack<T, &F::gram>("herk", functions);
    find_lapack<T, &F::heevd>("heevd", functions);
    find_lapack<T, &F::heevr>("heevr", functions);
    find_lapack<T, &F::gesdd_complex>("gesdd", functions);
  }
  return functions;
}

}  // namespace

std::int32_t integer_of(const std::int64_t* integers, std::size_t i) {
  if (blas().has_wide_integers()) return static_cast<std::int32_t>(integers[i]);
  std::int32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(integers) + i * sizeof value, sizeof value);
  return value;
}

template <class T>
const LapackFunctions<T>& lapack() {
  static const LapackFunctions<T> functions = find_all<T>();
  return functions;
}

template const LapackFunctions<float>& lapack();
template const LapackFunctions<double>& lapack();
template const LapackFunctions<std::complex<float>>& lapack();
template const LapackFunctions<std::complex<double>>& lapack();

}  // namespace partita::kernels
