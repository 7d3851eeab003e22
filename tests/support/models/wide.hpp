// Numbers of every dtype as ones wide enough to be exact.
#pragma once

#include <complex>
#include <type_traits>

#include "base/half.hpp"

namespace partita::testing {

using Wide = std::complex<long double>;

template <class T>
T narrow_to(Wide value) {
  if constexpr (is_small_float_type<T>) {
    return from_float<T>(static_cast<float>(value.real()));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value.real());
  } else {
    using Real = typename T::value_type;
    return {static_cast<Real>(value.real()), static_cast<Real>(value.imag())};
  }
}

template <class T>
Wide widened(T value) {
  if constexpr (is_small_float_type<T>) {
    return static_cast<long double>(to_float(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<long double>(value);
  } else {
    return {static_cast<long double>(value.real()), static_cast<long double>(value.imag())};
  }
}

}  // namespace partita::testing
