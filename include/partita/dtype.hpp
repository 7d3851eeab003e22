// Element types. The dtype is a run-time value, as in NumPy.
#pragma once

#include <complex>
#include <cstdint>
#include <partita/export.hpp>
#include <string_view>
#include <type_traits>

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
PARTITA_API bool is_signed(Dtype dtype);   ///< signed integers

namespace detail {
template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);
}  // namespace detail

/// The dtype of a C++ type, for typed access: `dtype_of<double>() == Dtype::f64`. Integers go by size and
/// sign: `long` and `long long` are both i64 where both have 64 bits. Does not compile for a type without a
/// dtype; f16 and bf16 have no type in C++.
template <class T>
constexpr Dtype dtype_of() {
  using detail::is_one_of;
  constexpr bool is_signed = is_one_of<T, signed char, short, int, long, long long>;
  constexpr bool is_unsigned =
      is_one_of<T, unsigned char, unsigned short, unsigned int, unsigned long, unsigned long long>;
  static_assert(
      is_signed || is_unsigned ||
          is_one_of<T, bool, float, double, std::complex<float>, std::complex<double>>,
      "Partita has no dtype for this C++ type: use bool, signed or unsigned integers, float, double, "
      "std::complex<float> or std::complex<double>");
  if constexpr (is_signed) {
    constexpr Dtype by_bytes[] = {{}, Dtype::i8, Dtype::i16, {}, Dtype::i32, {}, {}, {}, Dtype::i64};
    return by_bytes[sizeof(T)];
  } else if constexpr (is_unsigned) {
    constexpr Dtype by_bytes[] = {{}, Dtype::u8, Dtype::u16, {}, Dtype::u32, {}, {}, {}, Dtype::u64};
    return by_bytes[sizeof(T)];
  } else if constexpr (is_one_of<T, bool>) {
    return Dtype::boolean;
  } else if constexpr (is_one_of<T, float>) {
    return Dtype::f32;
  } else if constexpr (is_one_of<T, double>) {
    return Dtype::f64;
  } else {
    return is_one_of<T, std::complex<float>> ? Dtype::c64 : Dtype::c128;
  }
}

}  // namespace partita
