// Half-precision numbers. Storage types: arithmetic is done in f32.
#pragma once

#include <bit>
#include <cstdint>
#include <partita/language.hpp>

namespace partita {

namespace detail {
constexpr std::uint32_t smaller(std::uint32_t a, std::uint32_t b) {
  return b < a ? b : a;
}

/// The bits, without sign, of the number with `mantissa` bits and exponent bias `bias` that is nearest to a
/// float, given by its bits without sign; ties to even. An overflow gives bits beyond those of the largest
/// number.
template <std::uint32_t mantissa, std::uint32_t bias>
constexpr std::uint32_t nearest_magnitude(std::uint32_t magnitude) {
  constexpr std::uint32_t dropped = 23 - mantissa, rebias = 127 - bias;
  // Normal result: rebias, then round by the dropped bits. A carry into the exponent is correct.
  const std::uint32_t odd = (magnitude >> dropped) & 1u;
  const std::uint32_t normal = (magnitude - (rebias << 23) + ((1u << (dropped - 1)) - 1u) + odd) >> dropped;
  // Subnormal result: adding a number whose last bit is the step makes the f32 unit round to that step.
  constexpr std::uint32_t larger = (rebias + 1 + dropped) << 23;
  const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(larger);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - larger;
  return magnitude < ((rebias + 1) << 23) ? subnormal : normal;
}
}  // namespace detail

/// An IEEE binary16 number. Two bytes, trivially copyable; converts to float implicitly and exactly, so sums
/// and comparisons are those of floats.
struct Float16 {
  std::uint16_t bits = 0;  ///< the representation

  constexpr Float16() = default;
  /// Rounds to nearest, ties to even; overflows to infinity; NaN becomes a quiet NaN of the same sign.
  constexpr explicit Float16(float value) {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (all >> 16) & 0x8000u;
    const std::uint32_t magnitude = all & 0x7fffffffu;
    const std::uint32_t number = detail::smaller(detail::nearest_magnitude<10, 15>(magnitude), 0x7c00u);
    const std::uint32_t result = magnitude > 0x7f800000u ? 0x7e00u : number;
    bits = static_cast<std::uint16_t>(result | sign);
  }
  /// The number with this representation.
  static constexpr Float16 from_bits(std::uint16_t bits) {
    Float16 result;
    result.bits = bits;
    return result;
  }

  /// Exact. Subnormals, infinities and NaN keep their value.
  constexpr operator float() const {
    const std::uint32_t magnitude = bits & 0x7fffu;
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    // Normal numbers: move exponent and mantissa into place and rebias by 127 - 15. Infinity and NaN have the
    // exponent 31, which must become 255: rebias a second time.
    const std::uint32_t special = magnitude >= 0x7c00u ? 112u << 23 : 0u;
    const std::uint32_t normal = (magnitude << 13) + (112u << 23) + special;
    // Subnormal numbers: magnitude * 2^-24, exact in f32.
    const float tiny = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f;
    const std::uint32_t found = magnitude < 0x400u ? std::bit_cast<std::uint32_t>(tiny) : normal;
    return std::bit_cast<float>(found | sign);
  }
};

/// A bfloat16 number: the upper two bytes of an f32. Otherwise as Float16.
struct BFloat16 {
  std::uint16_t bits = 0;  ///< the representation

  constexpr BFloat16() = default;
  /// Rounds to nearest, ties to even; NaN becomes a quiet NaN of the same sign.
  constexpr explicit BFloat16(float value) {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (all + 0x7fffu + ((all >> 16) & 1u)) >> 16;
    const bool is_nan = (all & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<std::uint16_t>(is_nan ? (all >> 16) | 0x40u : rounded);
  }
  /// The number with this representation.
  static constexpr BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 result;
    result.bits = bits;
    return result;
  }

  /// Exact.
  constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

}  // namespace partita
