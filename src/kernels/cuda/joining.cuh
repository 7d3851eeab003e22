// What the kernels that join have in common: several elements at once, and the types and reductions that they
// know.
#pragma once

#include "kernels/cuda/reduce.cuh"

namespace partita::kernels::cuda {

/// Elements that one access moves.
template <class T, int bytes>
struct alignas(bytes) Together {
  T elements[bytes / sizeof(T)];
};

template <Reduction operation, class Unit>
__device__ Unit joined(Unit a, const Unit& b) {
#pragma unroll
  for (std::size_t e = 0; e < sizeof(a.elements) / sizeof(a.elements[0]); ++e) {
    a.elements[e] = reduce<operation>(a.elements[e], b.elements[e]);
  }
  return a;
}

/// body.run<T, operation>()
template <class T, class Body>
__device__ void join_as(Reduction operation, const Body& body) {
  switch (operation) {
    case Reduction::sum:  // integers wrap around
      if constexpr (std::is_integral_v<T>) {
        return body.template run<std::make_unsigned_t<T>, Reduction::sum>();
      } else {
        return body.template run<T, Reduction::sum>();
      }
    case Reduction::min:
      return body.template run<T, Reduction::min>();
    default:
      return body.template run<T, Reduction::max>();
  }
}

/// The same for what `joined_dtype` knows.
template <class Body>
__device__ void join_as(Dtype element, Reduction operation, const Body& body) {
  switch (element) {
    case Dtype::i32:
      return join_as<std::int32_t>(operation, body);
    case Dtype::i64:
      return join_as<std::int64_t>(operation, body);
    case Dtype::f16:
      return join_as<__half>(operation, body);
    case Dtype::bf16:
      return join_as<__nv_bfloat16>(operation, body);
    case Dtype::f64:
      return join_as<double>(operation, body);
    default:
      return join_as<float>(operation, body);
  }
}

}  // namespace partita::kernels::cuda
