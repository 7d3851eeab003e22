#include "device/cuda_moment.hpp"

#include <limits>
#include <utility>

#include "base/host_clock.hpp"
#include "cuda/capture.hpp"
#include "cuda/driver.hpp"

namespace partita {
namespace {

cudaEvent_t new_timed_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "make an event");
  return event;
}

}  // namespace

CudaOrigin::CudaOrigin() {
  const CudaBesideCaptures unharmed;
  constexpr int looks = 16;
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "make a stream");
  cudaEvent_t candidate = new_timed_event();
  event_ = new_timed_event();
  double closest = std::numeric_limits<double>::infinity();
  for (int look = 0; look < looks; ++look) {
    const double before = host_clock();
    check_cuda(cudaEventRecord(candidate, stream), "look at the device's clock");
    check_cuda(cudaStreamSynchronize(stream), "look at the device's clock");
    const double after = host_clock();
    if (after - before >= closest) continue;
    closest = after - before;
    seconds_ = (before + after) / 2;
    std::swap(event_, candidate);
  }
  cudaEventDestroy(candidate);
  cudaStreamDestroy(stream);
}

CudaOrigin::~CudaOrigin() {
  const CudaBesideCaptures unharmed;
  cudaEventDestroy(event_);
}

CudaMoment::CudaMoment(std::shared_ptr<const CudaOrigin> origin, cudaStream_t stream)
    : origin_(std::move(origin)), event_(new_timed_event()) {
  check_cuda(cudaEventRecord(event_, stream), "note a time");
}

CudaMoment::~CudaMoment() {
  const CudaBesideCaptures unharmed;
  cudaEventDestroy(event_);
}

double CudaMoment::seconds() const {
  const CudaBesideCaptures unharmed;
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, origin_->event(), event_), "look up a time");
  return origin_->seconds() + static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace partita
