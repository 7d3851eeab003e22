// Transpositions as a device's kernels make them, by plain code.
#pragma once

#include <memory>
#include <vector>

#include "kernels/cuda/transpose.hpp"
#include "kernels/host/copy.hpp"

namespace partita::testing {

struct alignas(16) SixteenBytes {
  std::uint64_t words[2];
};

/// The threads of a block, one after the other.
template <class Element>
class HostTransposeTeam {
 public:
  using Thread = kernels::cuda::TransposeThread<Element>;

  HostTransposeTeam(const kernels::cuda::Nest& nest, const kernels::cuda::Transposition& how,
                    const void* from, void* to) {
    for (int thread = 0; thread < kernels::cuda::transpose_threads; ++thread)
      threads_.emplace_back(nest, how, from, to, memory_->elements, thread);
  }

  template <class Work>
  void for_each(const Work& work) {
    for (Thread& thread : threads_) work(thread);
  }
  void meet() {}

 private:
  struct Memory {
    typename Thread::Shared elements;
  };
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  std::vector<Thread> threads_;
};

/// At most as many loops as kernels take.
inline kernels::cuda::Nest nest_of(const kernels::StridedCopy& copy) {
  kernels::cuda::Nest nest;
  nest.row_bytes = copy.item_bytes;
  for (const kernels::CopyLoop& loop : copy.loops) {
    nest.counts[nest.loops] = loop.count;
    nest.from_strides[nest.loops] = loop.from_stride;
    nest.to_strides[nest.loops++] = loop.to_stride;
  }
  return nest;
}

/// By `blocks` blocks, one after the other.
template <class Element>
void transpose_elements_here(const kernels::cuda::Nest& nest, const kernels::cuda::Transposition& how,
                             const void* from, void* to, std::uint32_t blocks) {
  for (std::uint32_t block = 0; block < blocks; ++block) {
    HostTransposeTeam<Element> team(nest, how, from, to);
    kernels::cuda::transpose_tiles(team, block, blocks, how.tiles);
  }
}

/// Whether kernels copy this in tiles; if so it has been. `copy` is simplified.
inline bool transposed_here(const kernels::StridedCopy& copy, const void* from, void* to,
                            std::uint32_t blocks = 1) {
  if (copy.loops.size() > kernels::cuda::Nest::most_loops) return false;
  const kernels::cuda::Nest nest = nest_of(copy);
  const char* const source = static_cast<const char*>(from) + copy.from_offset;
  char* const destination = static_cast<char*>(to) + copy.to_offset;
  const kernels::cuda::Transposition how = kernels::cuda::transposition_of(nest, source, destination);
  if (how.tiles == 0) return false;
  switch (nest.row_bytes) {
    case 1:
      transpose_elements_here<std::uint8_t>(nest, how, source, destination, blocks);
      break;
    case 2:
      transpose_elements_here<std::uint16_t>(nest, how, source, destination, blocks);
      break;
    case 4:
      transpose_elements_here<std::uint32_t>(nest, how, source, destination, blocks);
      break;
    case 8:
      transpose_elements_here<std::uint64_t>(nest, how, source, destination, blocks);
      break;
    default:
      transpose_elements_here<SixteenBytes>(nest, how, source, destination, blocks);
  }
  return true;
}

}  // namespace partita::testing
