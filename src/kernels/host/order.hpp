// The order of elements.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>

#include "base/half.hpp"

namespace partita::kernels {

/// Types of elements that have an order: not complex numbers. FP8 is not sorted either.
template <class T>
inline constexpr bool has_order = std::is_arithmetic_v<T> || is_small_float_type<T>;

/// FP8, which is sorted as f32.
template <class T>
inline constexpr bool is_float8_type = std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>;

template <class T>
inline constexpr bool is_complex_type =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// 0: no part of a complex number is NaN; 1: the imaginary one; 2: the real one; 3: both.
template <class T>
unsigned nan_parts(std::complex<T> value) {
  return 2U * std::isnan(value.real()) + std::isnan(value.imag());
}

/// NaN are the largest elements. Complex numbers are in NumPy's order: by the parts that are NaN, then by the
/// real parts that are numbers, then by the imaginary ones.
template <class T>
bool comes_before(T a, T b) {
  if constexpr (is_complex_type<T>) {
    if (nan_parts(a) != nan_parts(b)) return nan_parts(a) < nan_parts(b);
    if (comes_before(a.real(), b.real())) return true;
    return !comes_before(b.real(), a.real()) && comes_before(a.imag(), b.imag());
  } else if constexpr (is_small_float_type<T>) {
    return comes_before(to_float(a), to_float(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    return a < b || (std::isnan(b) && !std::isnan(a));
  } else {
    return a < b;
  }
}

}  // namespace partita::kernels
