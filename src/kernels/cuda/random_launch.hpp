// Pseudo-random elements in device memory, started by a plain function.
#pragma once

#include <cstdint>

#include "kernels/cuda/arithmetic_launch.hpp"

namespace partita::kernels::cuda {

/// See partita::kernels::RandomPass: to, number.
struct RandomElements {
  Randomness kind = Randomness::uniform;
  Dtype dtype = Dtype::f64;
  std::uint64_t seed = 0;
  void* data = nullptr;
  std::int64_t first = 0;
  ElementLoops loops;
};

/// A cudaError_t; 0: started. `stream` is a cudaStream_t.
int launch_random(const RandomElements& what, void* stream);

/// As load_copy_kernels.
int load_random_kernels();

}  // namespace partita::kernels::cuda
