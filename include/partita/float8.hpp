// FP8 numbers of the Open Compute Project (OCP 8-bit Floating Point, 2023). Storage types: arithmetic is done
// in f32.
#pragma once

#include <bit>
#include <cstdint>
#include <partita/half.hpp>

namespace partita {

/// An E4M3 number ("e4m3fn"): up to 448, without infinities. One byte, trivially copyable; converts to float
/// implicitly and exactly.
struct Float8E4M3 {
  std::uint8_t bits = 0;  ///< the representation

  constexpr Float8E4M3() = default;
  /// Rounds to nearest, ties to even; values beyond the largest number, and infinities, become NaN with the
  /// same sign.
  constexpr explicit Float8E4M3(float value) {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t result = detail::nearest_magnitude<3, 7>(all & 0x7fffffffu);
    bits = static_cast<std::uint8_t>(detail::smaller(result, 0x7fu) | ((all >> 24) & 0x80u));
  }
  /// The number with this representation.
  static constexpr Float8E4M3 from_bits(std::uint8_t bits) {
    Float8E4M3 result;
    result.bits = bits;
    return result;
  }

  /// Exact.
  constexpr operator float() const {
    const std::uint32_t magnitude = bits & 0x7fu;
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80u) << 24;
    const std::uint32_t normal = (magnitude << 20) + (120u << 23);
    const float tiny = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-9f;
    const std::uint32_t number = magnitude < 8u ? std::bit_cast<std::uint32_t>(tiny) : normal;
    return std::bit_cast<float>((magnitude == 0x7fu ? 0x7fc00000u : number) | sign);
  }
};

/// An E5M2 number: the upper byte of a Float16, up to 57344, with infinities. Otherwise as Float8E4M3.
struct Float8E5M2 {
  std::uint8_t bits = 0;  ///< the representation

  constexpr Float8E5M2() = default;
  /// Rounds to nearest, ties to even; overflows to infinity; NaN becomes a quiet NaN of the same sign.
  constexpr explicit Float8E5M2(float value) {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = all & 0x7fffffffu;
    const std::uint32_t number = detail::smaller(detail::nearest_magnitude<2, 15>(magnitude), 0x7cu);
    const std::uint32_t result = magnitude > 0x7f800000u ? 0x7eu : number;
    bits = static_cast<std::uint8_t>(result | ((all >> 24) & 0x80u));
  }
  /// The number with this representation.
  static constexpr Float8E5M2 from_bits(std::uint8_t bits) {
    Float8E5M2 result;
    result.bits = bits;
    return result;
  }

  /// Exact.
  constexpr operator float() const {
    return Float16::from_bits(static_cast<std::uint16_t>(static_cast<unsigned>(bits) << 8u));
  }
};

}  // namespace partita
