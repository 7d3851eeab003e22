// What the kernels of rows and columns reduce of each element, and in which type.
#pragma once

#include <limits>

#include "kernels/cuda/arithmetic_launch.hpp"
#include "kernels/cuda/reduce.cuh"

namespace partita::kernels::cuda {

template <class T>
__device__ T plain(T x) {
  return x;
}
__device__ inline std::uint8_t plain(Boolean x) {
  return x.byte != 0 ? 1 : 0;
}
__device__ inline float plain(__half x) {
  return __half2float(x);
}
__device__ inline float plain(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

template <class T>
struct Plain {
  using type = T;
};
template <>
struct Plain<Boolean> {
  using type = std::uint8_t;
};
template <>
struct Plain<__half> {
  using type = float;
};
template <>
struct Plain<__nv_bfloat16> {
  using type = float;
};

template <class T>
constexpr bool is_complex_number = std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;

/// body(T()) with the type in which elements are stored; cudaErrorInvalidValue of FP8.
template <class Body>
int with_stored(Dtype dtype, const Body& body) {
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

/// Sums and products, on the way in the type of the result, which wraps around.
template <Reduction operation, class T, class J>
struct AccumulateRule {
  using Stored = T;
  using Joined = J;
  using Way = std::conditional_t<std::is_same_v<J, std::int64_t>, std::uint64_t, J>;
  static Way identity() {
    if constexpr (std::is_arithmetic_v<Way>) {
      return operation == Reduction::sum ? Way(0) : Way(1);
    } else {
      return {};
    }
  }
  static __device__ Way of(T x, double) {
    if constexpr (std::is_arithmetic_v<Way>) {
      return static_cast<Way>(static_cast<J>(plain(x)));
    } else {
      return {x.real, x.imaginary};
    }
  }
  static __device__ Way join(Way x, Way y) { return reduce<operation>(x, y); }
  static __device__ J result(Way x) { return static_cast<J>(x); }
};

/// Sums of the squares of `factor` times the elements.
template <class T>
struct SquareRule : AccumulateRule<Reduction::sum, T, double> {
  static __device__ double of(T x, double factor) {
    const double scaled = factor * static_cast<double>(plain(x));
    return scaled * scaled;
  }
};

/// The smallest or largest, in the type of the elements. A NaN wins.
template <Reduction operation, class T, class J>
struct ExtremeRule {
  using Stored = T;
  using Joined = J;
  using Way = typename Plain<T>::type;
  static Way identity() {
    using Limits = std::numeric_limits<Way>;
    if constexpr (std::is_floating_point_v<Way>) {
      return operation == Reduction::min ? Limits::infinity() : -Limits::infinity();
    } else {
      return operation == Reduction::min ? Limits::max() : Limits::min();
    }
  }
  static __device__ Way of(T x, double) { return plain(x); }
  static __device__ Way join(Way x, Way y) { return reduce<operation>(x, y); }
  static __device__ J result(Way x) { return static_cast<J>(x); }
};

/// Whether any element is not 0, or all are not: the other answer is what none of them is.
template <Reduction operation, class T>
struct TruthRule {
  using Stored = T;
  using Joined = std::uint64_t;
  using Way = std::uint32_t;
  static constexpr bool every = operation == Reduction::min;
  static Way identity() { return 0; }
  static __device__ Way of(T x, double) { return is_set(x) != every ? 1 : 0; }
  static __device__ Way join(Way x, Way y) { return x | y; }
  static __device__ Joined result(Way x) { return (x != 0) != every ? 1 : 0; }

 private:
  template <class Real>
  static __device__ bool is_set(Complex<Real> x) {
    return x.real != 0 || x.imaginary != 0;
  }
  template <class S>
  static __device__ bool is_set(S x) {
    return plain(x) != 0;
  }
};

}  // namespace partita::kernels::cuda
