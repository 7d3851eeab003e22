// The order of elements.
#pragma once

#include <cmath>
#include <type_traits>

#include "base/half.hpp"

namespace partita::kernels {

/// Types of elements that have an order: not complex numbers. FP8 is not sorted either.
template <class T>
inline constexpr bool has_order = std::is_arithmetic_v<T> || is_small_float_type<T>;

/// NaN are the largest elements.
template <class T>
bool comes_before(T a, T b) {
  if constexpr (is_small_float_type<T>) {
    return comes_before(to_float(a), to_float(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    return a < b || (std::isnan(b) && !std::isnan(a));
  } else {
    return a < b;
  }
}

}  // namespace partita::kernels
