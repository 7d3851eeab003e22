// Floating-point numbers of 16 and of 8 bits to and from f32, for templates: in integer arithmetic that the
// compiler can vectorise (no branches). And from wider numbers, rounded once.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/float8.hpp>
#include <type_traits>

namespace partita {

/// Stored so, computed with in f32.
template <class T>
inline constexpr bool is_small_float_type = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16> ||
                                            std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>;

/// The dtypes of those.
inline bool is_small_float(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16 || is_float8(dtype);
}

template <class Small>
requires is_small_float_type<Small>
constexpr float to_float(Small value) {
  return value;
}

constexpr Float16 to_float16(float value) {
  return Float16(value);
}

constexpr BFloat16 to_bfloat16(float value) {
  return BFloat16(value);
}

template <class Small>
constexpr Small from_float(float value) {
  return Small(value);
}

/// An f32 that rounds to every small float as `value` does: what does not fit is kept in the last bit ("round
/// to odd", Boldo and Melquiond 2008).
inline float to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1U);
}

/// Likewise a double, of an integer of 64 bits.
template <class Integer>
double to_odd_double(Integer value) {
  constexpr int spare = 11;
  constexpr Integer low = (Integer{1} << spare) - 1;
  if (value >> 53 == 0 || value >> 53 == Integer(-1)) return static_cast<double>(value);
  return static_cast<double>((value >> spare) | Integer((value & low) != 0)) * (1 << spare);
}

/// The nearest T, f16 to f64, of a double or an integer of 64 bits: rounded once.
template <class T, class Wide>
T nearest(Wide value) {
  if constexpr (!is_small_float_type<T>) {
    return static_cast<T>(value);
  } else if constexpr (std::is_integral_v<Wide>) {
    return from_float<T>(to_odd(to_odd_double(value)));
  } else {
    return from_float<T>(to_odd(value));
  }
}

}  // namespace partita
