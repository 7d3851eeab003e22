// How the kernels of arithmetic walk over elements.
#pragma once

#include "kernels/cuda/arithmetic_launch.hpp"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {

inline std::int64_t elements_of(const ElementLoops& loops) {
  std::int64_t elements = 1;
  for (int l = 0; l < loops.loops; ++l) elements *= loops.counts[l];
  return elements;
}

/// The offset of element `number` of the nest in each part. `Number` has 32 bits where all elements can be
/// numbered so: division is several times cheaper.
template <class Number>
__device__ void move_to(const ElementLoops& loops, Number number, std::int64_t (&at)[3]) {
  for (int l = loops.loops - 1; l >= 0; --l) {
    const Number count = static_cast<Number>(loops.counts[l]);
    const Number whole = l == 0 ? 0 : number / count;
    const auto here = static_cast<std::int64_t>(number - whole * count);
    for (int x = 0; x < 3; ++x) at[x] += here * loops.strides[l][x];
    number = whole;
  }
}

__device__ inline void move_to(const ElementLoops& loops, bool narrow, std::int64_t number,
                               std::int64_t (&at)[3]) {
  if (narrow) {
    move_to(loops, static_cast<std::uint32_t>(number), at);
  } else {
    move_to(loops, static_cast<std::uint64_t>(number), at);
  }
}

constexpr std::int64_t narrow_numbers = std::int64_t{1} << 31;

inline unsigned blocks_for(std::int64_t elements) {
  const std::int64_t wanted = (elements + threads_per_block - 1) / threads_per_block;
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, 4 * most_blocks));
}

}  // namespace partita::kernels::cuda
