// How wide the accesses of a copy may be.
#pragma once

#include <cstdint>

#include "kernels/cuda/launch.hpp"

namespace partita::kernels::cuda {

/// In bytes, up to 16. The lowest set bit of all lengths, steps and addresses bounds the width of an access.
inline std::uint64_t alignment_of(const Nest& nest, const void* from, const void* to) {
  std::uint64_t bits = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to) |
                       static_cast<std::uint64_t>(nest.row_bytes) | 16;
  for (int i = 0; i < nest.loops; ++i) {
    bits |= static_cast<std::uint64_t>(nest.from_strides[i]) | static_cast<std::uint64_t>(nest.to_strides[i]);
  }
  return bits & (~bits + 1);
}

}  // namespace partita::kernels::cuda
