// What one number and another are together, on hosts and devices alike.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/everywhere.hpp"

namespace partita {

// Integers wrap around, as in NumPy: they are taken unsigned, and small ones not promoted to signed.
template <class T>
PARTITA_EVERYWHERE T wrapped(std::uint64_t value) {
  return static_cast<T>(value);
}

template <class T>
PARTITA_EVERYWHERE T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return wrapped<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
PARTITA_EVERYWHERE T difference_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return wrapped<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  } else {
    return a - b;
  }
}

template <class T>
PARTITA_EVERYWHERE T product_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return wrapped<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class T>
PARTITA_EVERYWHERE T quotient_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return difference_of(T{0}, a);  // the smallest has no counterpart
    }
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
}

/// NumPy's: the sign is that of b, also of a zero.
template <class T>
PARTITA_EVERYWHERE T remainder_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
      const T rest = static_cast<T>(a % b);
      return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    } else {
      return static_cast<T>(a % b);
    }
  } else {
    const T rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(T{0}, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
  }
}

template <class T>
PARTITA_EVERYWHERE T floored_quotient_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const T quotient = quotient_of(a, b);
    if constexpr (std::is_signed_v<T>) {
      const bool is_below = b != 0 && (a < 0) != (b < 0) && difference_of(a, product_of(quotient, b)) != 0;
      return is_below ? static_cast<T>(quotient - 1) : quotient;
    } else {
      return quotient;
    }
  } else {
    if (b == 0) return a / b;
    const T rest = std::fmod(a, b);
    const T quotient = (a - rest) / b - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
    if (quotient == 0) return std::copysign(T{0}, a / b);
    const T whole = std::floor(quotient);  // which it is, but for rounding
    return quotient - whole > T{0.5} ? whole + 1 : whole;
  }
}

template <class T>
PARTITA_EVERYWHERE T negative_of(T a) {
  if constexpr (std::is_integral_v<T>) {
    return difference_of(T{0}, a);
  } else {
    return -a;
  }
}

/// Of real numbers.
template <class T>
PARTITA_EVERYWHERE T absolute_of(T a) {
  if constexpr (std::is_unsigned_v<T>) {
    return a;
  } else if constexpr (std::is_integral_v<T>) {
    return a < 0 ? negative_of(a) : a;
  } else {
    return std::fabs(a);
  }
}

/// Without its fraction; what is out of range becomes the nearest there is, NaN 0.
template <class Integer>
PARTITA_EVERYWHERE Integer cut_off(double value) {
  constexpr auto least =
      static_cast<Integer>(std::is_signed_v<Integer> ? std::uint64_t{1} << (8 * sizeof(Integer) - 1) : 0);
  constexpr auto most = static_cast<Integer>(~least);
  constexpr auto half = static_cast<Integer>(most / 2 + 1);
  constexpr double beyond = 2.0 * static_cast<double>(half);
  if (value != value) return 0;
  if (value >= beyond) return most;
  if (value <= static_cast<double>(least)) return least;
  return static_cast<Integer>(value);
}

}  // namespace partita
