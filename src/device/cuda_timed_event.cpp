#include "device/cuda_timed_event.hpp"

#include <limits>
#include <utility>

#include "base/host_clock.hpp"
#include "cuda/stream.hpp"

namespace partita::devices {
CudaOrigin::CudaOrigin() {
  const cuda::CudaBesideCaptures unharmed;
  constexpr int looks = 16;
  const cuda::CudaStream stream = cuda::new_cuda_stream();
  cuda::CudaEvent candidate = cuda::new_cuda_event(cudaEventDefault);
  double closest = std::numeric_limits<double>::infinity();
  for (int look = 0; look < looks; ++look) {
    const double before = host_clock();
    cuda::check_cuda(cudaEventRecord(candidate.get(), stream.get()), "query the device's clock");
    cuda::check_cuda(cudaStreamSynchronize(stream.get()), "query the device's clock");
    const double after = host_clock();
    if (after - before >= closest) continue;
    closest = after - before;
    seconds_ = (before + after) / 2;
    std::swap(event_, candidate);
  }
}

CudaTimedEvent::CudaTimedEvent(std::shared_ptr<const CudaOrigin> origin, cudaStream_t stream)
    : origin_(std::move(origin)) {
  cuda::check_cuda(cudaEventRecord(event_.get(), stream), "note a time");
}

double CudaTimedEvent::seconds() const {
  const cuda::CudaBesideCaptures unharmed;
  float milliseconds = 0;
  cuda::check_cuda(cudaEventElapsedTime(&milliseconds, origin_->event(), event_.get()), "look up a time");
  return origin_->seconds() + static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace partita::devices
