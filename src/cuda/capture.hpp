// What the library's own calls have to do with streams that are captured into graphs.
#pragma once

#include <cuda_runtime_api.h>

namespace partita {

/// While one lives, the calling thread may make calls that CUDA refuses beside a capture, which they would
/// break off: one by this thread, or, in the mode `global`, by any of the process. For calls that have
/// nothing to do with what is captured: memory, events, other streams. Costs two calls of some nanoseconds.
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

}  // namespace partita
