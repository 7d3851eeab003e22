// Half precisions to and from f32, for templates: in integer arithmetic that the compiler can vectorise (no
// branches).
#pragma once

#include <partita/half.hpp>
#include <type_traits>

namespace partita {

/// The two kinds.
template <class T>
inline constexpr bool is_half_type = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

constexpr float to_float(Float16 value) {
  return value;
}

constexpr float to_float(BFloat16 value) {
  return value;
}

constexpr Float16 to_float16(float value) {
  return Float16(value);
}

constexpr BFloat16 to_bfloat16(float value) {
  return BFloat16(value);
}

template <class Half>
constexpr Half from_float(float value) {
  return Half(value);
}

}  // namespace partita
