// Element types: run-time values, as in NumPy.
#pragma once

#include <complex>
#include <cstdint>
#include <partita/export.hpp>
#include <string_view>
#include <type_traits>

// CUDA's types are only declared: <cuda_fp16.h>, <cuda_bf16.h> and <cuda_fp8.h> are not required.
struct __half;         // NOLINT(bugprone-reserved-identifier)
struct __nv_bfloat16;  // NOLINT(bugprone-reserved-identifier)
struct __nv_fp8_e4m3;  // NOLINT(bugprone-reserved-identifier)
struct __nv_fp8_e5m2;  // NOLINT(bugprone-reserved-identifier)

namespace partita {

struct Float16;     // in <partita/half.hpp>
struct BFloat16;    // in <partita/half.hpp>
struct Float8E4M3;  // in <partita/float8.hpp>
struct Float8E5M2;  // in <partita/float8.hpp>

/// The element types.
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
  /// Float8E4M3, "float8_e4m3fn" in ml_dtypes. FP8 numbers can be moved, converted (`astype`), stored in
  /// files and multiplied as matrices; other arithmetic is an ArgumentError, because they have too few bits
  /// for sums.
  f8e4m3,
  f8e5m2,  ///< Float8E5M2, "float8_e5m2"; as f8e4m3
};

inline constexpr int dtype_count = 17;  ///< number of dtypes

/// Size of one element in bytes: 1, 2, 4, 8 or 16.
PARTITA_API std::int64_t size_of(Dtype dtype);

/// The name: "f64", "bool", ...; the inverse of `parse_dtype`.
PARTITA_API std::string_view name(Dtype dtype);

/// The dtype with this name; NumPy's names ("float64", "float8_e5m2", ...) are accepted too. Throws
/// ArgumentError that lists the names.
PARTITA_API Dtype parse_dtype(std::string_view text);

PARTITA_API bool is_complex(Dtype dtype);  ///< c64, c128
PARTITA_API bool is_integer(Dtype dtype);  ///< signed and unsigned integers; not boolean
PARTITA_API bool is_signed(Dtype dtype);   ///< signed integers
PARTITA_API bool is_float8(Dtype dtype);   ///< f8e4m3, f8e5m2

namespace detail {
template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);

// std::float16_t is _Float16, and std::bfloat16_t is __bf16, where these types exist.
#if defined(__FLT16_MAX__) && !defined(__CUDACC__) && (!defined(__clang__) || __clang_major__ >= 15)
using NativeFloat16 = _Float16;
#else
using NativeFloat16 = Float16;
#endif
#if defined(__BFLT16_MAX__) && !defined(__CUDACC__)
using NativeBFloat16 = __bf16;
#else
using NativeBFloat16 = BFloat16;
#endif
template <class T>
inline constexpr bool is_f16 = is_one_of<T, Float16, NativeFloat16, __half>;
template <class T>
inline constexpr bool is_bf16 = is_one_of<T, BFloat16, NativeBFloat16, __nv_bfloat16>;
template <class T>
inline constexpr bool is_f8e4m3 = is_one_of<T, Float8E4M3, __nv_fp8_e4m3>;
template <class T>
inline constexpr bool is_f8e5m2 = is_one_of<T, Float8E5M2, __nv_fp8_e5m2>;
/// Half precision and FP8.
template <class T>
inline constexpr bool is_small_float = is_f16<T> || is_bf16<T> || is_f8e4m3<T> || is_f8e5m2<T>;
}  // namespace detail

/// The dtype of a C++ type: `dtype_of<double>() == Dtype::f64`. Integers are matched by size and sign: `long`
/// and `long long` are both i64 if both have 64 bits. Half precision: Float16 and BFloat16 of
/// <partita/half.hpp>, std::float16_t and std::bfloat16_t (C++23), _Float16, CUDA's __half and __nv_bfloat16.
/// FP8: Float8E4M3 and Float8E5M2 of <partita/float8.hpp>, CUDA's __nv_fp8_e4m3 and __nv_fp8_e5m2. Does not
/// compile for other types.
template <class T>
constexpr Dtype dtype_of() {
  using detail::is_one_of;
  constexpr bool is_signed = is_one_of<T, signed char, short, int, long, long long>;
  constexpr bool is_unsigned =
      is_one_of<T, unsigned char, unsigned short, unsigned int, unsigned long, unsigned long long>;
  static_assert(
      is_signed || is_unsigned || detail::is_small_float<T> ||
          is_one_of<T, bool, float, double, std::complex<float>, std::complex<double>>,
      "Partita has no dtype for this C++ type: use bool, signed or unsigned integers, float, double, "
      "partita::Float16, BFloat16, Float8E4M3 or Float8E5M2, std::complex<float> or std::complex<double>");
  if constexpr (is_signed) {
    constexpr Dtype by_bytes[] = {{}, Dtype::i8, Dtype::i16, {}, Dtype::i32, {}, {}, {}, Dtype::i64};
    return by_bytes[sizeof(T)];
  } else if constexpr (is_unsigned) {
    constexpr Dtype by_bytes[] = {{}, Dtype::u8, Dtype::u16, {}, Dtype::u32, {}, {}, {}, Dtype::u64};
    return by_bytes[sizeof(T)];
  } else if constexpr (is_one_of<T, bool>) {
    return Dtype::boolean;
  } else if constexpr (detail::is_f16<T>) {
    return Dtype::f16;
  } else if constexpr (detail::is_bf16<T>) {
    return Dtype::bf16;
  } else if constexpr (detail::is_f8e4m3<T>) {
    return Dtype::f8e4m3;
  } else if constexpr (detail::is_f8e5m2<T>) {
    return Dtype::f8e5m2;
  } else if constexpr (is_one_of<T, float>) {
    return Dtype::f32;
  } else if constexpr (is_one_of<T, double>) {
    return Dtype::f64;
  } else {
    return is_one_of<T, std::complex<float>> ? Dtype::c64 : Dtype::c128;
  }
}

}  // namespace partita
