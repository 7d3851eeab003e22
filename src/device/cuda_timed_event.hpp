// Points that CUDA streams come past, in the host's time.
#pragma once

#include <memory>

#include "cuda/stream.hpp"
#include "device/device_queues.hpp"

namespace partita::devices {

/// An event of which it is known when it happened, by the host's clock.
class CudaOrigin {
 public:
  /// A private stream passes an event several times; the origin is the midpoint of the shortest interval
  /// between two readings of the host's clock around it. Does not wait for other streams.
  CudaOrigin();

  cudaEvent_t event() const { return event_.get(); }
  double seconds() const { return seconds_; }

 private:
  cuda::CudaEvent event_ = cuda::new_cuda_event(cudaEventDefault);
  double seconds_ = 0;
};

class CudaTimedEvent final : public TimedEvent {
 public:
  CudaTimedEvent(std::shared_ptr<const CudaOrigin> origin, cudaStream_t stream);

  double seconds() const override;

 private:
  std::shared_ptr<const CudaOrigin> origin_;
  cuda::CudaEvent event_ = cuda::new_cuda_event(cudaEventDefault);
};

}  // namespace partita::devices
