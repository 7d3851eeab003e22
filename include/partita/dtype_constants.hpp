// Dtypes as constants of the namespace: `zeros(context, shape, distribution, f64)`.
#pragma once

#include <partita/compute_type.hpp>  // its names come first: they are no shadows of these
#include <partita/dtype.hpp>

namespace partita {

inline constexpr Dtype boolean = Dtype::boolean;  ///< Dtype::boolean
inline constexpr Dtype i8 = Dtype::i8;            ///< Dtype::i8
inline constexpr Dtype u8 = Dtype::u8;            ///< Dtype::u8
inline constexpr Dtype i16 = Dtype::i16;          ///< Dtype::i16
inline constexpr Dtype u16 = Dtype::u16;          ///< Dtype::u16
inline constexpr Dtype i32 = Dtype::i32;          ///< Dtype::i32
inline constexpr Dtype u32 = Dtype::u32;          ///< Dtype::u32
inline constexpr Dtype i64 = Dtype::i64;          ///< Dtype::i64
inline constexpr Dtype u64 = Dtype::u64;          ///< Dtype::u64
inline constexpr Dtype f16 = Dtype::f16;          ///< Dtype::f16
inline constexpr Dtype bf16 = Dtype::bf16;        ///< Dtype::bf16
inline constexpr Dtype f32 = Dtype::f32;          ///< Dtype::f32
inline constexpr Dtype f64 = Dtype::f64;          ///< Dtype::f64
inline constexpr Dtype c64 = Dtype::c64;          ///< Dtype::c64
inline constexpr Dtype c128 = Dtype::c128;        ///< Dtype::c128
inline constexpr Dtype f8e4m3 = Dtype::f8e4m3;    ///< Dtype::f8e4m3
inline constexpr Dtype f8e5m2 = Dtype::f8e5m2;    ///< Dtype::f8e5m2

}  // namespace partita
