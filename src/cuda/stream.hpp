// Streams and events of the CUDA runtime, and streams in the words of accelerators.
#pragma once

#include <memory>
#include <partita/stream.hpp>
#include <type_traits>

#include "cuda/driver.hpp"

namespace partita::cuda {

/// While an object exists, the calling thread may make calls that CUDA refuses during a capture and that
/// would invalidate it: a capture by this thread or, in the mode `global`, by any thread of the process. For
/// calls unrelated to the captured work: memory, events, other streams. Costs two calls of some nanoseconds.
class CudaBesideCaptures {
 public:
  CudaBesideCaptures() { exchange(); }
  ~CudaBesideCaptures() { exchange(); }
  CudaBesideCaptures(const CudaBesideCaptures&) = delete;
  CudaBesideCaptures& operator=(const CudaBesideCaptures&) = delete;

 private:
  void exchange() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

inline cudaStream_t native(Stream stream) {
  return static_cast<cudaStream_t>(stream.handle);
}

struct DestroyCudaHandle {
  void operator()(cudaStream_t stream) const noexcept {
    const CudaBesideCaptures unharmed;
    cudaStreamDestroy(stream);
  }
  void operator()(cudaEvent_t event) const noexcept {
    const CudaBesideCaptures unharmed;
    cudaEventDestroy(event);
  }
};
using CudaStream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyCudaHandle>;
using CudaEvent = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyCudaHandle>;

/// `urgent`: blocks of its kernels are started before those that others still have to start.
inline CudaStream new_cuda_stream(bool urgent = false) {
  const CudaBesideCaptures unharmed;
  int least = 0, greatest = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "make a stream");
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, urgent ? greatest : least),
             "make a stream");
  return CudaStream(stream);
}

/// `flags`: cudaEventDisableTiming, or cudaEventDefault to record times.
inline CudaEvent new_cuda_event(unsigned flags) {
  const CudaBesideCaptures unharmed;
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, flags), "make an event");
  return CudaEvent(event);
}

/// What a launch of `kernels/cuda/launch.hpp` returns.
inline void check_launch(int error, const char* what) {
  check_cuda(static_cast<cudaError_t>(error), what);
}

}  // namespace partita::cuda
