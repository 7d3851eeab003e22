// Where the largest and smallest elements of a part in device memory are.
#pragma once

#include "kernels/cuda/arithmetic_launch.hpp"

namespace partita::kernels::cuda {

/// See partita::kernels::PlacePass: to, a.
struct Places {
  Dtype dtype = Dtype::f64;
  bool smallest = false;
  void* data[3] = {};
  ElementLoops kept, over;
};

/// A cudaError_t; 0: started. `scratch`: as of a fold. `stream` is a cudaStream_t.
int launch_places(const Places& what, void* scratch, void* stream);

/// As load_copy_kernels.
int load_places_kernels();

}  // namespace partita::kernels::cuda
