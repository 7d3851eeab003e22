// Streams in the words of accelerators and in those of the CUDA runtime.
#pragma once

#include <partita/stream.hpp>

#include "cuda/capture.hpp"
#include "cuda/driver.hpp"

namespace partita {

inline cudaStream_t native(Stream stream) {
  return static_cast<cudaStream_t>(stream.handle);
}

inline cudaStream_t new_cuda_stream() {
  const CudaBesideCaptures unharmed;
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "make a stream");
  return stream;
}

/// What a launch of `kernels/cuda/launch.hpp` returns.
inline void check_launch(int error, const char* what) {
  check_cuda(static_cast<cudaError_t>(error), what);
}

}  // namespace partita
