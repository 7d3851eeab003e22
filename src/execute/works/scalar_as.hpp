// A factor given at execute (alpha, beta, scale) in the type that computes.
#pragma once

#include <complex>
#include <partita/dtype.hpp>
#include <type_traits>

namespace partita::execution {

/// The real part alone where T is real; of an integer it is one.
template <class T>
T scalar_as(std::complex<double> value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(value);
  }
}

/// For a device, which gets the dtype.
inline std::complex<double> scalar_of(Dtype dtype, std::complex<double> value) {
  return is_complex(dtype) ? value : value.real();
}

}  // namespace partita::execution
