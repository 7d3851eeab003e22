// Real and complex numbers as the kernels of factorizations and solves compute with them, and Householder
// reflectors.
#pragma once

#include <cuda_runtime.h>

#include <partita/dtype.hpp>

namespace partita::kernels::cuda {

template <class R>
struct alignas(2 * sizeof(R)) QrComplex {
  R re, im;

  __device__ QrComplex operator+(QrComplex b) const { return {re + b.re, im + b.im}; }
  __device__ QrComplex operator-(QrComplex b) const { return {re - b.re, im - b.im}; }
  __device__ QrComplex operator*(QrComplex b) const { return {re * b.re - im * b.im, re * b.im + im * b.re}; }
  __device__ QrComplex operator*(R b) const { return {re * b, im * b}; }
};

/// Sums of squares between the two bounds are precise. `up` and `down` scale all numbers whose squares are
/// not.
template <class T>
struct NumberOf;
template <>
struct NumberOf<float> {
  using Real = float;
  static constexpr float least_square = 0x1p-100F, largest_square = 0x1p120F, up = 0x1p90F, down = 0x1p-75F;
};
template <>
struct NumberOf<double> {
  using Real = double;
  static constexpr double least_square = 0x1p-960, largest_square = 0x1p1000, up = 0x1p600, down = 0x1p-600;
};
template <class R>
struct NumberOf<QrComplex<R>> : NumberOf<R> {};
template <class T>
using RealOf = typename NumberOf<T>::Real;

template <class R>
__device__ R real(R x) {
  return x;
}
template <class R>
__device__ R real(QrComplex<R> x) {
  return x.re;
}
template <class R>
__device__ R imaginary(R) {
  return 0;
}
template <class R>
__device__ R imaginary(QrComplex<R> x) {
  return x.im;
}
template <class R>
__device__ R conjugate(R x) {
  return x;
}
template <class R>
__device__ QrComplex<R> conjugate(QrComplex<R> x) {
  return {x.re, -x.im};
}
template <class R>
__device__ bool is_finite(R x) {
  return isfinite(x);
}
template <class R>
__device__ bool is_finite(QrComplex<R> x) {
  return isfinite(x.re) && isfinite(x.im);
}
template <class R>
__device__ R shuffle_xor(R x, int other) {
  return __shfl_xor_sync(0xffffffffU, x, other);
}
template <class R>
__device__ QrComplex<R> shuffle_xor(QrComplex<R> x, int other) {
  return {shuffle_xor(x.re, other), shuffle_xor(x.im, other)};
}
/// Sums of W numbers over a warp: lane l gets that of number l % W.
template <int Half, int W, class T>
__device__ __forceinline__ T sum_over_warp(T (&p)[W], int lane) {
  if constexpr (Half >= 1) {
    const bool upper = (lane & Half) != 0;
#pragma unroll
    for (int i = 0; i < Half; ++i) {
      const T sent = upper ? p[i] : p[i + Half];
      const T kept = upper ? p[i + Half] : p[i];
      p[i] = kept + shuffle_xor(sent, Half);
    }
    return sum_over_warp<Half / 2>(p, lane);
  } else {
    T sum = p[0];
#pragma unroll
    for (int other = W; other < 32; other *= 2) sum = sum + shuffle_xor(sum, other);
    return sum;
  }
}

template <class T>
__device__ T number(RealOf<T> re, RealOf<T> im = 0) {
  if constexpr (sizeof(T) == sizeof(RealOf<T>)) {
    return re;
  } else {
    return T{re, im};
  }
}
/// By Smith's method, which overflows later.
template <class T>
__device__ T inverse_of(T x) {
  using R = RealOf<T>;
  const R re = real(x), im = imaginary(x);
  if (im == 0) return number<T>(1 / re);
  if (abs(re) >= abs(im)) {
    const R ratio = im / re, all = re + im * ratio;
    return number<T>(1 / all, -ratio / all);
  }
  const R ratio = re / im, all = re * ratio + im;
  return number<T>(ratio / all, -1 / all);
}

/// I - tau v v^H, v = (1, scale x inverse); maps (alpha, x) to (beta, 0) when its adjoint is applied.
template <class T>
struct Reflector {
  using Real = RealOf<T>;
  T tau, inverse;  // of scale (alpha - beta)
  Real beta, scale;
  bool exists;   // it is not the identity
  bool regular;  // x needed no scale
};

/// As LAPACK's larfg. `squares`: those of `scale` x.
template <class T>
__device__ Reflector<T> reflector_of(T alpha, RealOf<T> squares, RealOf<T> scale) {
  using R = RealOf<T>;
  const R norm = sqrt(squares) / scale, re = real(alpha), im = imaginary(alpha);
  if (norm == 0 && im == 0) return {number<T>(0), number<T>(0), re, scale, false, false};
  const R beta = -copysign(hypot(hypot(re, im), norm), re);
  const T tau = number<T>((beta - re) / beta, -im / beta);
  return {tau, inverse_of(number<T>((re - beta) * scale, im * scale)), beta, scale, true, false};
}

template <class T>
struct NumberTag {
  using Number = T;
};

/// What visit(NumberTag<T>()) returns for the type of the numbers.
template <class Visit>
auto for_dtype(Dtype dtype, const Visit& visit) {
  switch (dtype) {
    case Dtype::f32:
      return visit(NumberTag<float>());
    case Dtype::f64:
      return visit(NumberTag<double>());
    case Dtype::c64:
      return visit(NumberTag<QrComplex<float>>());
    default:
      return visit(NumberTag<QrComplex<double>>());
  }
}

}  // namespace partita::kernels::cuda
