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

inline std::int64_t rounded_up(std::int64_t x, std::int64_t y) {
  return (x + y - 1) / y;
}

inline unsigned blocks_for(std::int64_t elements) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(rounded_up(elements, threads_per_block), 1, 4 * most_blocks));
}

/// Of the innermost loop, in a part; of no loop, 0.
inline std::int64_t stride_of(const ElementLoops& loops, int part) {
  return loops.loops == 0 ? 0 : std::abs(loops.strides[loops.loops - 1][part]);
}

// --- many elements reduced to few

/// What is kept is distributed over groups of `lanes` threads; each reduces one of `chunks` parts of it.
struct ChunkDeal {
  std::int64_t kept = 1, over = 1;
  std::int64_t chunks = 1, chunk = 1;  // how many parts, and elements of one
  unsigned lanes = 1;
  void* partial = nullptr;  // results of [kept][chunks]; null: straight to where they belong

  __host__ __device__ std::int64_t tasks() const { return kept * chunks; }
  __device__ std::int64_t end(std::int64_t begin) const { return begin + chunk < over ? begin + chunk : over; }
  unsigned blocks() const { return blocks_for(tasks() * lanes); }
  /// Of what `partial` has then.
  ChunkDeal last() const {
    ChunkDeal deal;
    deal.kept = kept;
    deal.over = deal.chunk = chunks;
    deal.widen(threads_per_block);
    return deal;
  }
  void widen(unsigned most) {
    while (lanes < most && lanes < over) lanes *= 2;
  }
  /// So that there are some `threads` at work, and room for the partial results.
  void cut(std::int64_t threads, std::int64_t result_bytes) {
    constexpr std::int64_t least_work = 16;  // of a thread
    const std::int64_t wanted = rounded_up(threads, kept * lanes);
    const std::int64_t useful = std::max<std::int64_t>(over / (least_work * lanes), 1);
    const std::int64_t room = std::max<std::int64_t>(fold_scratch_bytes / result_bytes / kept, 1);
    chunk = std::max<std::int64_t>(rounded_up(over, std::min({wanted, useful, room})), 1);
    chunks = std::max<std::int64_t>(rounded_up(over, chunk), 1);
  }
};

}  // namespace partita::kernels::cuda
