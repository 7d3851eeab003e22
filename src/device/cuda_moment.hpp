// Points that CUDA streams come past, in the host's time.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "device/accelerator.hpp"

namespace partita {

/// An event of which it is known when it happened, by the host's clock.
class CudaOrigin {
 public:
  /// A stream of its own comes past an event several times; that between the closest two looks at the host's
  /// clock is taken, in the middle of the two. Waits for no other stream.
  CudaOrigin();
  ~CudaOrigin();
  CudaOrigin(const CudaOrigin&) = delete;
  CudaOrigin& operator=(const CudaOrigin&) = delete;

  cudaEvent_t event() const { return event_; }
  double seconds() const { return seconds_; }

 private:
  cudaEvent_t event_ = nullptr;
  double seconds_ = 0;
};

class CudaMoment final : public Moment {
 public:
  CudaMoment(std::shared_ptr<const CudaOrigin> origin, cudaStream_t stream);
  ~CudaMoment() override;
  CudaMoment(const CudaMoment&) = delete;
  CudaMoment& operator=(const CudaMoment&) = delete;

  double seconds() const override;

 private:
  std::shared_ptr<const CudaOrigin> origin_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace partita
