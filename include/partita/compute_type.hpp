// The precision in which matrix products are computed.
#pragma once

#include <cstdint>
#include <partita/names.hpp>
#include <string_view>

namespace partita {

/// Precision of products and sums; for complex numbers, that of the real and imaginary parts. Names as in
/// cuBLAS. It is a minimum: if a precision is not available, a higher one is used. The CPU computes f16, tf32
/// and bf16x9 in f32.
enum class ComputeType : std::uint8_t {
  automatic,  ///< f32 for half precision and FP8, i32 for i8, otherwise that of the factors
  f16,        ///< for factors in f16
  f32,
  tf32,    ///< for factors in f32, rounded to 11 bits; only on request
  bf16x9,  ///< for factors in f32, each split into three bf16 numbers: as accurate as f32
  f64,
  i32,  ///< for factors in i8: exact, modulo 2^32
};
template <>
struct OptionWords<ComputeType> {
  static constexpr std::string_view what = "compute type";
  static constexpr std::string_view words[]{"automatic", "f16", "f32", "tf32", "bf16x9", "f64", "i32"};
};

}  // namespace partita
