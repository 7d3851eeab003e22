// In what a matrix multiply is computed.
#pragma once

#include <cstdint>
#include <partita/names.hpp>
#include <string_view>

namespace partita {

/// In what products are formed and summed up, of complex numbers those of their parts; with the names of
/// cuBLAS and, as there, the least precision that will do: where there is no such way, a more precise one is
/// taken. The CPU computes f16, tf32 and bf16x9 in f32.
enum class ComputeType : std::uint8_t {
  automatic,  ///< what the factors say: f32 of numbers of 16 and 8 bits, i32 of i8, else their own
  f16,        ///< of factors of f16
  f32,
  tf32,    ///< of factors of f32, which are rounded to 11 bits; only where it is asked for
  bf16x9,  ///< of factors of f32, each the sum of three of bf16: as accurate as f32
  f64,
  i32,  ///< of factors of i8: exact, modulo 2^32
};
template <>
struct OptionWords<ComputeType> {
  static constexpr std::string_view what = "compute type";
  static constexpr std::string_view words[]{"automatic", "f16", "f32", "tf32", "bf16x9", "f64", "i32"};
};

}  // namespace partita
