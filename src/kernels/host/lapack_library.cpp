#include "kernels/host/lapack_library.hpp"

#include <complex>
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

template <class T, class Function>
void find_lapack(const char* name, Function& function) {
  const std::string whole = letter_of_type<T> + std::string(name) + "_";
  void* const found = blas().find_function(whole.c_str());
  check<UnsupportedError>(found != nullptr,
                          "{} has no {}: factorizations in host memory require an OpenBLAS that contains "
                          "LAPACK; install the package libopenblas0-pthread",
                          blas().path(), whole);
  function = reinterpret_cast<Function>(found);
}

template <class T>
LapackFunctions<T> find_all() {
  LapackFunctions<T> functions;
  find_lapack<T>("potrf", functions.potrf);
  find_lapack<T>("getrf", functions.getrf);
  find_lapack<T>("geqrt", functions.geqrt);
  find_lapack<T>("trsm", functions.trsm);
  find_lapack<T>("trmm", functions.trmm);
  if constexpr (std::is_same_v<T, RealType<T>>) {
    find_lapack<T>("syrk", functions.gram);
    find_lapack<T>("syevd", functions.syevd);
    find_lapack<T>("gesdd", functions.gesdd);
  } else {
    find_lapack<T>("herk", functions.gram);
    find_lapack<T>("heevd", functions.heevd);
    find_lapack<T>("gesdd", functions.gesdd_complex);
  }
  return functions;
}

}  // namespace

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
