// The parts of CUDA's driver that the runtime does not offer, found at run time: the library starts on
// machines without a driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "cuda/virtual_memory.hpp"

namespace partita::cuda {

struct CudaDriver {
  CudaVirtualMemory virtual_memory;
  decltype(&cuDeviceGetAttribute) device_attribute = nullptr;
  decltype(&cuPointerGetAttribute) pointer_attribute = nullptr;
  /// As of CUDA 11.3; headers know it by other signatures.
  CUresult(CUDAAPI* capture_info)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                  const CUgraphNode**, std::size_t*) = nullptr;

  /// Throws UnsupportedError: no driver, or one that is too old.
  static const CudaDriver& get();
};

/// "cudaErrorMemoryAllocation: out of memory"
std::string text_of(cudaError_t error);

/// Throw MemoryError where memory is the matter, else Error: "what: text".
void check_cuda(cudaError_t error, std::string_view what);
void check_cuda(CUresult result, std::string_view what);

}  // namespace partita::cuda
