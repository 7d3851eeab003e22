// Transpositions in tiles by the blocks of a launch.
#pragma once

#include "kernels/cuda/rows.cuh"
#include "kernels/cuda/transpose.hpp"

namespace partita::kernels::cuda {

static_assert(transpose_threads == threads_per_block);

/// The threads of a block: each for itself.
template <class Element, TileShape shape>
struct TransposeTeam {
  using Thread = TransposeThread<Element, shape>;
  Thread thread;

  template <class Work>
  __device__ void for_each(const Work& work) {
    work(thread);
  }
  __device__ void meet() { __syncthreads(); }
};

/// By `blocks` blocks, of which this is number `block`; all of its threads call it.
template <class Element, TileShape shape = tile_shape(sizeof(Element))>
__device__ void transpose_nest(const Nest& nest, const Transposition& how, unsigned block, unsigned blocks,
                               const void* from, void* to) {
  __shared__ typename TransposeTile<Element, shape>::Shared shared;
  TransposeTeam<Element, shape> team{{nest, how, from, to, shared, static_cast<int>(threadIdx.x)}};
  transpose_tiles(team, block, blocks, how.tiles);
}

}  // namespace partita::kernels::cuda
