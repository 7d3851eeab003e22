// The types in which kernels find elements, and those in which they compute with them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <partita/dtype.hpp>
#include <type_traits>

#include "kernels/cuda/reduce.cuh"

namespace partita::kernels::cuda {

template <class T>
constexpr bool is_complex_number = std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;
template <class T>
constexpr bool is_float8 = std::is_same_v<T, __nv_fp8_e4m3> || std::is_same_v<T, __nv_fp8_e5m2>;
template <class T>
constexpr bool is_narrow = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16> || is_float8<T>;

/// Narrow numbers as f32.
template <class T>
using Widened = std::conditional_t<is_narrow<T>, float, T>;

template <class T>
__device__ Widened<T> widened(T x) {
  return static_cast<Widened<T>>(x);
}

template <class T>
__device__ T rounded(Widened<T> x) {
  if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(x);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16_rn(x);
  } else {
    return x;
  }
}

/// Booleans as the numbers 0 and 1, too.
template <class T>
struct Plain {
  using type = Widened<T>;
};
template <>
struct Plain<Boolean> {
  using type = std::uint8_t;
};

template <class T>
__device__ typename Plain<T>::type plain(T x) {
  if constexpr (std::is_same_v<T, Boolean>) {
    return x.byte != 0 ? 1 : 0;
  } else {
    return widened(x);
  }
}

/// Whether it is not 0.
template <class T>
__device__ bool is_set(T x) {
  if constexpr (is_complex_number<T>) {
    return x.real != 0 || x.imaginary != 0;
  } else {
    return plain(x) != 0;
  }
}

/// body(T()) with the unsigned integer of up to eight bytes that is as large as an element.
template <class Body>
int with_unsigned(Dtype dtype, const Body& body) {
  switch (size_of(dtype)) {
    case 1:
      return body(std::uint8_t());
    case 2:
      return body(std::uint16_t());
    case 4:
      return body(std::uint32_t());
    default:
      return body(std::uint64_t());
  }
}

/// body(T()) with the type in which elements are stored; cudaErrorInvalidValue of FP8.
#pragma nv_exec_check_disable
template <class Body>
__host__ __device__ int with_stored(Dtype dtype, const Body& body) {
  switch (dtype) {
    case Dtype::boolean:
      return body(Boolean());
    case Dtype::i8:
      return body(std::int8_t());
    case Dtype::u8:
      return body(std::uint8_t());
    case Dtype::i16:
      return body(std::int16_t());
    case Dtype::u16:
      return body(std::uint16_t());
    case Dtype::i32:
      return body(std::int32_t());
    case Dtype::u32:
      return body(std::uint32_t());
    case Dtype::i64:
      return body(std::int64_t());
    case Dtype::u64:
      return body(std::uint64_t());
    case Dtype::f16:
      return body(__half());
    case Dtype::bf16:
      return body(__nv_bfloat16());
    case Dtype::f32:
      return body(float());
    case Dtype::f64:
      return body(double());
    case Dtype::c64:
      return body(Complex<float>());
    case Dtype::c128:
      return body(Complex<double>());
    default:
      return cudaErrorInvalidValue;
  }
}

/// body(T()) with the type of the elements, which have an order; cudaErrorInvalidValue of others.
template <class Body>
int with_ordered(Dtype dtype, const Body& body) {
  return with_stored(dtype, [&](auto element) -> int {
    if constexpr (is_complex_number<decltype(element)>) {
      return cudaErrorInvalidValue;
    } else {
      return body(element);
    }
  });
}

/// The same as with_stored, of FP8 too.
#pragma nv_exec_check_disable
template <class Body>
__host__ __device__ int with_any_stored(Dtype dtype, const Body& body) {
  if (dtype == Dtype::f8e4m3) return body(__nv_fp8_e4m3());
  if (dtype == Dtype::f8e5m2) return body(__nv_fp8_e5m2());
  return with_stored(dtype, body);
}

}  // namespace partita::kernels::cuda
