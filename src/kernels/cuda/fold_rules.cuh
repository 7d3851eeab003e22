// What the kernels of rows and columns reduce of each element, and in which type.
#pragma once

#include <limits>

#include "kernels/cuda/arithmetic_launch.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/stored.cuh"

namespace partita::kernels::cuda {

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
};

}  // namespace partita::kernels::cuda
