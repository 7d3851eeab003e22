// Element types. The dtype is a run-time value, as in NumPy.
#pragma once

#include <complex>
#include <cstdint>
#include <partita/export.hpp>
#include <string_view>

namespace partita {

enum class Dtype : std::uint8_t {
  boolean,  ///< one byte, 0 or 1
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f16,   ///< IEEE binary16
  bf16,  ///< bfloat16
  f32,
  f64,
  c64,   ///< two f32: real, imaginary
  c128,  ///< two f64
};

inline constexpr int dtype_count = 15;

/// Bytes of one element: 1, 2, 4, 8 or 16.
PARTITA_API std::int64_t size_of(Dtype dtype);

/// "f64", "bool", ...: the inverse of `parse_dtype`.
PARTITA_API std::string_view name(Dtype dtype);

/// Also reads NumPy's names ("float64", "complex64", ...). Throws ArgumentError that lists the known names.
PARTITA_API Dtype parse_dtype(std::string_view text);

PARTITA_API bool is_complex(Dtype dtype);
PARTITA_API bool is_integer(Dtype dtype);  ///< signed and unsigned integers; not boolean

/// The dtype of a C++ type, for typed access: `dtype_of<double>() == Dtype::f64`.
template <class T>
constexpr Dtype dtype_of();

template <>
constexpr Dtype dtype_of<bool>() {
  return Dtype::boolean;
}
template <>
constexpr Dtype dtype_of<std::int8_t>() {
  return Dtype::i8;
}
template <>
constexpr Dtype dtype_of<std::uint8_t>() {
  return Dtype::u8;
}
template <>
constexpr Dtype dtype_of<std::int16_t>() {
  return Dtype::i16;
}
template <>
constexpr Dtype dtype_of<std::uint16_t>() {
  return Dtype::u16;
}
template <>
constexpr Dtype dtype_of<std::int32_t>() {
  return Dtype::i32;
}
template <>
constexpr Dtype dtype_of<std::uint32_t>() {
  return Dtype::u32;
}
template <>
constexpr Dtype dtype_of<std::int64_t>() {
  return Dtype::i64;
}
template <>
constexpr Dtype dtype_of<std::uint64_t>() {
  return Dtype::u64;
}
template <>
constexpr Dtype dtype_of<float>() {
  return Dtype::f32;
}
template <>
constexpr Dtype dtype_of<double>() {
  return Dtype::f64;
}
template <>
constexpr Dtype dtype_of<std::complex<float>>() {
  return Dtype::c64;
}
template <>
constexpr Dtype dtype_of<std::complex<double>>() {
  return Dtype::c128;
}

}  // namespace partita
