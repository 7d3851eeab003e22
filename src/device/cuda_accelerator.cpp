#include "device/cuda_accelerator.hpp"

#include <chrono>
#include <thread>

#include "base/check.hpp"
#include "cuda/capture.hpp"
#include "cuda/stream.hpp"
#include "device/device_identity.hpp"
#include "device/nccl_group.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/packet_launch.hpp"
#include "memory/cuda_node_memory.hpp"
#include "memory/nvshmem_node_memory.hpp"

namespace partita {
namespace {

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "make a stream");
  return stream;
}

cudaEvent_t new_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "make an event");
  return event;
}

cudaStreamCaptureStatus capture_status(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(stream, &status), "look at a stream");
  return status;
}

bool is_done(cudaError_t state) {
  if (state == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  check_cuda(state, "work on the device");
  return true;
}

}  // namespace

CudaAccelerator::CudaAccelerator(int index, const ContextOptions& options)
    : index_(index), way_(options.copy_way), lane_count_(options.device_lanes) {
  const CudaBesideCaptures unharmed;
  (void)CudaDriver::get();
  check_suitable();
  check_cuda(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, index_),
             "look at the device");
  use();
  check_cuda(cudaFree(nullptr), "start the device");
  check_launch(cuda::load_copy_kernels(), "load the kernels");
  check_launch(cuda::load_accumulate_kernels(), "load the kernels");
  check_launch(cuda::load_join_kernel(), "load the kernels");
  check_launch(cuda::load_packet_kernels(), "load the kernels");
  check_launch(cuda::load_packet_nest_kernels(), "load the kernels");
  void* counter = nullptr;
  constexpr std::size_t counters = 3;
  check_cuda(cudaMalloc(&counter, counters * sizeof(unsigned)), "start the device");
  counters_ = static_cast<unsigned*>(counter);
  check_cuda(cudaMemset(counter, 0, counters * sizeof(unsigned)), "start the device");
  main_ = new_stream();
  past_ = new_stream();
  for (cudaStream_t& lane : lanes_) lane = new_stream();
  order_ = new_event();
  mark_ = new_event();
}

CudaAccelerator::~CudaAccelerator() {
  const CudaBesideCaptures unharmed;
  cudaSetDevice(index_);
  for (cudaStream_t lane : lanes_) {
    if (lane != nullptr) cudaStreamDestroy(lane);
  }
  if (counters_ != nullptr) cudaFree(counters_);
  if (past_ != nullptr) cudaStreamDestroy(past_);
  if (main_ != nullptr) cudaStreamDestroy(main_);
  if (order_ != nullptr) cudaEventDestroy(order_);
  if (mark_ != nullptr) cudaEventDestroy(mark_);
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
}

void CudaAccelerator::check_suitable() {
  int major = 0, minor = 0, addresses = 0;
  check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index_), "look at the device");
  check_cuda(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, index_), "look at the device");
  check<UnsupportedError>(
      10 * major + minor >= PARTITA_CUDA_LEAST_ARCHITECTURE,
      "device {} has compute capability {}.{}; this build has kernels from {}.{} on (build "
      "with CMAKE_CUDA_ARCHITECTURES={}{})",
      index_, major, minor, PARTITA_CUDA_LEAST_ARCHITECTURE / 10, PARTITA_CUDA_LEAST_ARCHITECTURE % 10, major,
      minor);
  overlaps_launches_ = major >= 9;
  CudaDriver::get().device_attribute(&addresses, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                     index_);
  check<UnsupportedError>(addresses != 0, "device {} does not offer management of its virtual memory",
                          index_);
}

std::string CudaAccelerator::name() const {
  cudaDeviceProp found{};
  check_cuda(cudaGetDeviceProperties(&found, index_), "look at the device");
  return fmt::format("{} (device {})", found.name, index_);
}

std::string CudaAccelerator::identity() const {
  cudaDeviceProp found{};
  check_cuda(cudaGetDeviceProperties(&found, index_), "look at the device");
  return {std::begin(found.uuid.bytes), std::end(found.uuid.bytes)};
}

void CudaAccelerator::use() {
  check_cuda(cudaSetDevice(index_), "use the device");
}

void* CudaAccelerator::allocate(std::int64_t bytes) {
  const CudaBesideCaptures unharmed;
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), fmt::format("{} bytes", bytes));
  return memory;
}

void CudaAccelerator::release(void* memory) noexcept {
  const CudaBesideCaptures unharmed;
  cudaFree(memory);
}

void* CudaAccelerator::allocate_pinned(std::int64_t bytes) {
  const CudaBesideCaptures unharmed;
  void* memory = nullptr;
  check_cuda(cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable),
             fmt::format("{} bytes of pinned host memory", bytes));
  return memory;
}

void CudaAccelerator::release_pinned(void* memory) noexcept {
  const CudaBesideCaptures unharmed;
  cudaFreeHost(memory);
}

std::unique_ptr<NodeMemory> CudaAccelerator::share_memory(Runtime& state, const Topology& topology) {
  return std::make_unique<CudaNodeMemory>(state, topology, index_, CudaDriver::get().virtual_memory);
}

std::unique_ptr<NodeMemory> CudaAccelerator::share_memory_of_library(Runtime& state,
                                                                     const Topology& topology) {
  const CudaBesideCaptures unharmed;
  const auto free_bytes = [this] {
    use();
    std::size_t free = 0, whole = 0;
    check_cuda(cudaMemGetInfo(&free, &whole), "look at the device's memory");
    return static_cast<std::int64_t>(free);
  };
  return std::make_unique<NvshmemNodeMemory>(
      state, topology, NvshmemDevice{device_identity(state, *this), [this] { use(); }, free_bytes},
      NvshmemLibrary::of_process());
}

std::unique_ptr<DeviceGroup> CudaAccelerator::make_group(DeviceRuntime& state) {
  return NcclGroup::make(state);
}

void CudaAccelerator::order(Stream before, Stream after) {
  check_cuda(cudaEventRecord(order_, native(before)), "order streams");
  check_cuda(cudaStreamWaitEvent(native(after), order_, 0), "order streams");
}

bool CudaAccelerator::captures(Stream stream) {
  const cudaStreamCaptureStatus status = capture_status(native(stream));
  check(status != cudaStreamCaptureStatusInvalidated, "the capture of this stream has been broken off");
  return status == cudaStreamCaptureStatusActive;
}

/// The graph owns an object of its user's, as every graph does that is made of it. CUDA lets that object go
/// in a thread in which nothing of CUDA may be called: so it is no more than a sign.
std::weak_ptr<const void> CudaAccelerator::graph_of(Stream stream) {
  const char* const what = "look at a capture";
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  check_cuda(CudaDriver::get().capture_info(native(stream), &status, nullptr, &graph, nullptr, nullptr),
             what);
  check(status == CU_STREAM_CAPTURE_STATUS_ACTIVE, "the capture of this stream has been broken off");
  using Sign = std::shared_ptr<const int>;
  auto sign = std::make_unique<Sign>(std::make_shared<const int>(0));
  std::weak_ptr<const void> result = *sign;
  cudaUserObject_t object = nullptr;
  check_cuda(cudaUserObjectCreate(
                 &object, sign.get(), [](void* held) { delete static_cast<Sign*>(held); }, 1,
                 cudaUserObjectNoDestructorSync),
             what);
  (void)sign.release();  // the object's
  check_cuda(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove), what);
  return result;
}

void CudaAccelerator::mark(Stream stream) {
  check_cuda(cudaEventRecord(mark_, native(stream)), "mark a stream");
}

bool CudaAccelerator::passed() {
  const CudaBesideCaptures unharmed;
  return is_done(cudaEventQuery(mark_));
}

/// To ask a stream that is being captured would break off its capture.
bool CudaAccelerator::idle() {
  const CudaBesideCaptures unharmed;
  return capture_status(main_) == cudaStreamCaptureStatusNone && is_done(cudaStreamQuery(main_));
}

void CudaAccelerator::follow(Stream stream) {
  check_cuda(cudaStreamWaitEvent(native(stream), mark_, 0), "order streams");
}

void CudaAccelerator::align_clock() {
  origin_ = std::make_shared<const CudaOrigin>();
}

std::unique_ptr<Moment> CudaAccelerator::moment(Stream stream) {
  if (!origin_) align_clock();
  return std::make_unique<CudaMoment>(origin_, native(stream));
}

int CudaAccelerator::event() {
  if (free_events_.empty()) {
    const CudaBesideCaptures unharmed;
    events_.push_back(new_event());
    free_events_.reserve(events_.size());  // giving back allocates nothing
    return static_cast<int>(events_.size()) - 1;
  }
  const int event = free_events_.back();
  free_events_.pop_back();
  return event;
}

void CudaAccelerator::record(int event, Stream stream) {
  check_cuda(cudaEventRecord(events_[static_cast<std::size_t>(event)], native(stream)), "mark a stream");
}

bool CudaAccelerator::reached(int event) {
  const CudaBesideCaptures unharmed;
  return is_done(cudaEventQuery(events_[static_cast<std::size_t>(event)]));
}

void CudaAccelerator::move_past(void* to, const void* from, std::int64_t bytes) {
  using namespace std::chrono_literals;
  constexpr auto longest = 10s;
  const CudaBesideCaptures unharmed;
  check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, past_), "copy");
  const auto start = std::chrono::steady_clock::now();
  for (cudaError_t state = cudaStreamQuery(past_); state != cudaSuccess; state = cudaStreamQuery(past_)) {
    if (state != cudaErrorNotReady) check_cuda(state, "copy");
    check<Error>(std::chrono::steady_clock::now() - start < longest, "device {} does not answer", index_);
    std::this_thread::sleep_for(5us);
  }
  (void)cudaGetLastError();
}

}  // namespace partita
