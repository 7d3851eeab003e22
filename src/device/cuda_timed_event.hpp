// Points that CUDA streams come past, in the host's time.
#pragma once

#include <memory>

#include "cuda/stream.hpp"
#include "device/device_queues.hpp"

namespace partita::devices {

/// An event of which it is known when it happened, by the host's clock.
class CudaOrigin {
 public:
  /// A stream of its own comes past an event several times; that between the closest two looks at the host's
  /// clock is taken, in the middle of the two. Waits for no other stream.
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
