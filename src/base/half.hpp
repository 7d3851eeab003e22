// Half precisions to and from f32, in integer arithmetic that the compiler can vectorise (no branches).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace partita {

/// The bits of an IEEE binary16 number; arithmetic happens in f32.
struct Float16 {
  std::uint16_t bits = 0;
};

/// The bits of a bfloat16 number: the upper half of an f32.
struct BFloat16 {
  std::uint16_t bits = 0;
};

/// Exact. Subnormals, infinities and NaN keep their value.
constexpr float to_float(Float16 value) {
  const std::uint32_t magnitude = value.bits & 0x7fffu;
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  // Normal numbers: move exponent and mantissa into place and rebias by 127 - 15. Infinity and NaN have the
  // exponent 31, which must become 255: rebias a second time.
  const std::uint32_t special = magnitude >= 0x7c00u ? 112u << 23 : 0u;
  const std::uint32_t normal = (magnitude << 13) + (112u << 23) + special;
  // Subnormal numbers: magnitude * 2^-24, exact in f32.
  const float tiny = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f;
  const std::uint32_t bits = magnitude < 0x400u ? std::bit_cast<std::uint32_t>(tiny) : normal;
  return std::bit_cast<float>(bits | sign);
}

constexpr float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// Rounds to nearest, ties to even; overflows to infinity; NaN becomes a quiet NaN of the same sign.
constexpr Float16 to_float16(float value) {
  const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (all >> 16) & 0x8000u;
  const std::uint32_t magnitude = all & 0x7fffffffu;
  // Normal result: rebias, then round on the 13 bits that fall off. A carry runs into the exponent rightly.
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xfffu + odd) >> 13;
  // Subnormal result (below 2^-14): adding 0.5 makes the f32 unit round at 2^-24, which is binary16's step.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
  std::uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
  result = magnitude >= (143u << 23) ? 0x7c00u : result;  // 65536 and beyond; 65520..65535 round up to it
  result = magnitude > 0x7f800000u ? 0x7e00u : result;
  return {static_cast<std::uint16_t>(result | sign)};
}

constexpr BFloat16 to_bfloat16(float value) {
  const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (all + 0x7fffu + ((all >> 16) & 1u)) >> 16;
  const bool is_nan = (all & 0x7fffffffu) > 0x7f800000u;
  return {static_cast<std::uint16_t>(is_nan ? (all >> 16) | 0x40u : rounded)};
}

/// The two kinds, for templates.
template <class T>
inline constexpr bool is_half_type = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

template <class Half>
constexpr Half from_float(float value) {
  if constexpr (std::is_same_v<Half, Float16>) {
    return to_float16(value);
  } else {
    return to_bfloat16(value);
  }
}

}  // namespace partita
