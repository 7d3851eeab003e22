// Two elements reduced, with the rules of kernels/host/accumulate.cpp.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "kernels/cuda/launch.hpp"

namespace partita::kernels::cuda {

struct Boolean {
  std::uint8_t byte;
};

template <class Real>
struct Complex {
  Real real, imaginary;
};

/// Integers wrap around. A NaN on either side wins.
template <Reduction operation, class T>
__device__ T reduce(T a, T b) {
  if constexpr (operation == Reduction::sum) {
    return static_cast<T>(a + b);
  } else if constexpr (operation == Reduction::min) {
    return a < b || a != a ? a : b;
  } else if constexpr (operation == Reduction::max) {
    return a > b || a != a ? a : b;
  } else if constexpr (operation == Reduction::product) {
    // Numbers of 16 bits would be multiplied as signed ones of 32.
    using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  } else if constexpr (operation == Reduction::logical_and) {
    return static_cast<T>(a != 0 && b != 0);
  } else if constexpr (operation == Reduction::logical_or) {
    return static_cast<T>(a != 0 || b != 0);
  } else if constexpr (operation == Reduction::logical_xor) {
    return static_cast<T>((a != 0) != (b != 0));
  } else if constexpr (operation == Reduction::bit_and) {
    return static_cast<T>(a & b);
  } else if constexpr (operation == Reduction::bit_or) {
    return static_cast<T>(a | b);
  } else {
    return static_cast<T>(a ^ b);
  }
}

template <Reduction operation>
__device__ Boolean reduce(Boolean a, Boolean b) {
  return {reduce<operation>(a.byte, b.byte)};
}

template <Reduction operation>
__device__ __half reduce(__half a, __half b) {
  return __float2half_rn(reduce<operation>(__half2float(a), __half2float(b)));
}

template <Reduction operation>
__device__ __nv_bfloat16 reduce(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __float2bfloat16_rn(reduce<operation>(__bfloat162float(a), __bfloat162float(b)));
}

/// Never fused with the addition behind it: the same numbers as on the host.
__device__ inline float rounded_product(float a, float b) {
  return __fmul_rn(a, b);
}

__device__ inline double rounded_product(double a, double b) {
  return __dmul_rn(a, b);
}

template <Reduction operation, class Real>
__device__ Complex<Real> reduce(Complex<Real> a, Complex<Real> b) {
  if constexpr (operation == Reduction::sum) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  } else {
    return {rounded_product(a.real, b.real) - rounded_product(a.imaginary, b.imaginary),
            rounded_product(a.real, b.imaginary) + rounded_product(a.imaginary, b.real)};
  }
}

}  // namespace partita::kernels::cuda
