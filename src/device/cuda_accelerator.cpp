#include "device/cuda_accelerator.hpp"

#include "base/check.hpp"
#include "cuda/stream.hpp"
#include "device/nccl_group.hpp"

namespace partita::devices {
namespace {

cudaStreamCaptureStatus capture_status(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cuda::check_cuda(cudaStreamIsCapturing(stream, &status), "look at a stream");
  return status;
}

bool is_done(cudaError_t state) {
  if (state == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  cuda::check_cuda(state, "work on the device");
  return true;
}

class CudaDeviceEvent final : public DeviceEvent {
 public:
  void record(Stream stream) override {
    cuda::check_cuda(cudaEventRecord(event_.get(), cuda::native(stream)), "mark a stream");
  }
  bool reached() override {
    const cuda::CudaBesideCaptures unharmed;
    return is_done(cudaEventQuery(event_.get()));
  }
  void hold(Stream stream) override {
    cuda::check_cuda(cudaStreamWaitEvent(cuda::native(stream), event_.get(), 0), "order streams");
  }

 private:
  cuda::CudaEvent event_ = cuda::new_cuda_event(cudaEventDisableTiming);
};

}  // namespace

CudaAccelerator::CudaAccelerator(const std::shared_ptr<CudaPhysicalDevice>& physical,
                                 const ContextOptions& options, int ranks)
    : Accelerator(physical),
      device_(*physical),
      way_(options.copy_way),
      lane_count_(options.device_lanes),
      sharers_(ranks) {
  constexpr std::array<std::uint64_t, 2> zeros{};
  counters_ = DeviceMemory(*this, sizeof(zeros));
  physical->copy_past(counters_.data(), zeros.data(), sizeof(zeros));
}

std::unique_ptr<DeviceGroup> CudaAccelerator::make_group(DeviceRuntime& state) {
  return NcclGroup::make(state);
}

DeviceMath* CudaAccelerator::math() {
  if (!math_) math_ = CudaMath::make(*this);
  return math_.get();
}

DeviceTransforms* CudaAccelerator::transforms() {
  if (!transforms_) transforms_ = CudaTransforms::make(*this);
  return transforms_.get();
}

DeviceFactorizations* CudaAccelerator::factorizations() {
  if (!factorizations_) factorizations_ = CudaFactorizations::make(*this, [this] { return room().solves; });
  return factorizations_.get();
}

Stream CudaAccelerator::made(std::size_t number) {
  cuda::CudaStream& stream = streams_.at(number);
  if (!stream) {
    use();
    const bool goes_first = number == 1 || number == 3;  // what leaves, and signals
    stream = cuda::new_cuda_stream(goes_first);
  }
  return {stream.get()};
}

bool CudaAccelerator::captures(Stream stream) {
  const cudaStreamCaptureStatus status = capture_status(cuda::native(stream));
  check(status != cudaStreamCaptureStatusInvalidated, "the capture of this stream has been invalidated");
  return status == cudaStreamCaptureStatusActive;
}

/// The graph owns a user object, as does every graph instantiated from it. CUDA destroys that object
/// in a thread in which CUDA must not be called: so it is only a flag.
std::weak_ptr<const void> CudaAccelerator::graph_of(Stream stream) {
  const char* const what = "look at a capture";
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  cuda::check_cuda(
      cuda::CudaDriver::get().capture_info(cuda::native(stream), &status, nullptr, &graph, nullptr, nullptr),
      what);
  check(status == CU_STREAM_CAPTURE_STATUS_ACTIVE, "the capture of this stream has been invalidated");
  using Sign = std::shared_ptr<const int>;
  auto sign = std::make_unique<Sign>(std::make_shared<const int>(0));
  std::weak_ptr<const void> result = *sign;
  cudaUserObject_t object = nullptr;
  cuda::check_cuda(cudaUserObjectCreate(
                       &object, sign.get(), [](void* held) { delete static_cast<Sign*>(held); }, 1,
                       cudaUserObjectNoDestructorSync),
                   what);
  (void)sign.release();  // the object's
  cuda::check_cuda(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove), what);
  return result;
}

/// To ask a stream that is being captured would break off its capture.
bool CudaAccelerator::idle() {
  const cuda::CudaBesideCaptures unharmed;
  cudaStream_t const own = streams_[0].get();
  return own == nullptr ||
         (capture_status(own) == cudaStreamCaptureStatusNone && is_done(cudaStreamQuery(own)));
}

void CudaAccelerator::align_clock() {
  origin_ = std::make_shared<const CudaOrigin>();
}

std::unique_ptr<TimedEvent> CudaAccelerator::timed_event(Stream stream) {
  if (!origin_) align_clock();
  return std::make_unique<CudaTimedEvent>(origin_, cuda::native(stream));
}

std::unique_ptr<DeviceEvent> CudaAccelerator::event() {
  use();
  return std::make_unique<CudaDeviceEvent>();
}

}  // namespace partita::devices
