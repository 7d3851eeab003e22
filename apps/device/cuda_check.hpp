// Calls of CUDA's runtime that may fail.
#pragma once

#include <cuda_runtime_api.h>

#include <partita/error.hpp>
#include <string>

namespace on_device::cuda {

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw partita::Error(std::string(what) + ": " + cudaGetErrorString(code));
}

}  // namespace on_device::cuda
