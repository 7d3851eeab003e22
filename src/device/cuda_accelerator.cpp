#include "device/cuda_accelerator.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/check.hpp"
#include "device/cuda_exchange.hpp"
#include "device/cuda_kernel_numbers.hpp"
#include "device/cuda_packets.hpp"
#include "device/nccl_group.hpp"
#include "kernels/cuda/launch.hpp"
#include "memory/cuda_node_memory.hpp"
#include "memory/nvshmem_node_memory.hpp"

namespace partita {
namespace {

cudaStream_t native(Stream stream) {
  return static_cast<cudaStream_t>(stream.handle);
}

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

/// PARTITA_DEVICE_LANES: how many streams large plans may use beside the context's own. On 4 H200 one was the
/// fastest for 1 GiB a device (docs/performance.md).
int lanes_of_environment(int most) {
  constexpr int usual = 1;
  const char* const text = std::getenv("PARTITA_DEVICE_LANES");
  if (text == nullptr || *text == '\0') return usual;
  const std::string_view digits = text;
  check(digits.size() == 1 && digits[0] >= '0' && digits[0] - '0' <= most,
        "PARTITA_DEVICE_LANES is \"{}\"; it must be a number from 0 to {}", digits, most);
  return digits[0] - '0';
}

void check_launch(int error, const char* what) {
  check_cuda(static_cast<cudaError_t>(error), what);
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

CudaAccelerator::CudaAccelerator(int index)
    : index_(index), way_(copy_way_of_environment()), lane_count_(lanes_of_environment(most_lanes)) {
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
  batch_.reserve(256);
}

CudaAccelerator::~CudaAccelerator() {
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

/// Looking on must not break off a capture that some other thread is at.
void CudaAccelerator::attend() {
  use();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  check_cuda(cudaThreadExchangeStreamCaptureMode(&mode), "look at the device");
}

void* CudaAccelerator::allocate(std::int64_t bytes) {
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), fmt::format("{} bytes", bytes));
  return memory;
}

void CudaAccelerator::release(void* memory) noexcept {
  cudaFree(memory);
}

void* CudaAccelerator::allocate_pinned(std::int64_t bytes) {
  void* memory = nullptr;
  check_cuda(cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable),
             fmt::format("{} bytes of pinned host memory", bytes));
  return memory;
}

void CudaAccelerator::release_pinned(void* memory) noexcept {
  cudaFreeHost(memory);
}

std::unique_ptr<NodeMemory> CudaAccelerator::share_memory(ContextState& state, const Topology& topology) {
  return std::make_unique<CudaNodeMemory>(state, topology, index_);
}

std::unique_ptr<NodeMemory> CudaAccelerator::share_memory_of_library(ContextState& state,
                                                                     const Topology& topology) {
  const auto free_bytes = [this] {
    use();
    std::size_t free = 0, whole = 0;
    check_cuda(cudaMemGetInfo(&free, &whole), "look at the device's memory");
    return static_cast<std::int64_t>(free);
  };
  return std::make_unique<NvshmemNodeMemory>(state, topology, free_bytes, NvshmemLibrary::of_process());
}

std::unique_ptr<DeviceGroup> CudaAccelerator::make_group(ContextState& state) {
  return NcclGroup::make(state);
}

void CudaAccelerator::order(Stream before, Stream after) {
  check_cuda(cudaEventRecord(order_, native(before)), "order streams");
  check_cuda(cudaStreamWaitEvent(native(after), order_, 0), "order streams");
}

bool CudaAccelerator::captures(Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(native(stream), &status), "look at a stream");
  check(status != cudaStreamCaptureStatusInvalidated, "the capture of this stream has been broken off");
  return status == cudaStreamCaptureStatusActive;
}

void CudaAccelerator::mark(Stream stream) {
  check_cuda(cudaEventRecord(mark_, native(stream)), "mark a stream");
}

bool CudaAccelerator::passed() {
  return is_done(cudaEventQuery(mark_));
}

bool CudaAccelerator::idle() {
  return is_done(cudaStreamQuery(main_));
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
  return is_done(cudaEventQuery(events_[static_cast<std::size_t>(event)]));
}

void CudaAccelerator::copy_bytes(const void* from, void* to, std::int64_t bytes, Stream stream) {
  check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, native(stream)),
             "copy");
}

void CudaAccelerator::copy(const StridedCopy& nest, const void* from, void* to, Stream stream, bool inside) {
  if (nest.item_bytes == 0) return;
  const char* const source = static_cast<const char*>(from) + nest.from_offset;
  char* const destination = static_cast<char*>(to) + nest.to_offset;
  if (choose_copy_way(nest, inside, way_).way == CopyWay::engine) {
    return copy_by_engine(nest, source, destination, native(stream));
  }
  check_launch(cuda::launch_copy(kernel_nest(nest), source, destination, native(stream)), "copy");
}

void CudaAccelerator::transfer(const StridedCopy& nest, const void* from, void* to, Stream stream) {
  if (nest.item_bytes == 0) return;
  copy_by_engine(nest, static_cast<const char*>(from) + nest.from_offset,
                 static_cast<char*>(to) + nest.to_offset, native(stream));
}

bool CudaAccelerator::copies_at_once(std::span<const PlacedCopy> copies) const {
  PeerExchange all;
  all.copies = copies;
  return ExchangeFit(all, way_).copies();
}

/// Two for each multiprocessor fill the links, and leave room for others.
unsigned CudaAccelerator::exchange_blocks() const {
  return static_cast<unsigned>(std::max(2 * multiprocessors_ / sharers_, 1));
}

/// Where kernels do the copying anyway, one of them also gives and awaits the flags.
void CudaAccelerator::exchange(const PeerExchange& what, Stream stream) {
  const ExchangeFit fit(what, way_);
  if (!fit.one_kernel()) return Accelerator::exchange(what, stream);
  if (what.packs.empty() && what.joins.empty()) {
    check_launch(cuda::launch_exchange(kernel_exchange(what, counters_, exchange_blocks()), native(stream)),
                 "exchange");
  } else {
    check_launch(cuda::launch_join_exchange(kernel_join_exchange(what, counters_), native(stream)),
                 "exchange");
  }
}

bool CudaAccelerator::offers_packets(Dtype dtype, std::optional<Reduction> joined) const {
  return !joined || kernel_numbers(dtype, *joined);
}

void CudaAccelerator::exchange_packets(const PacketExchange& what, Stream stream) {
  const cuda::Packets packets = kernel_packets(what, sharers_, overlaps_launches_);
  check_launch(cuda::launch_packets(packets, native(stream)), "exchange packets");
}

void CudaAccelerator::move_packets(const PacketMoves& what, Stream stream) {
  cuda::PacketNests nests = kernel_packet_nests(what, sharers_, overlaps_launches_);
  check_launch(cuda::launch_packet_nests(nests, native(stream)), "exchange packets");
}

/// The innermost loop in one copy; the others one after the other.
void CudaAccelerator::copy_by_engine(const StridedCopy& nest, const char* from, char* to,
                                     cudaStream_t stream) {
  const auto width = static_cast<std::size_t>(nest.item_bytes);
  if (nest.loops.empty()) {
    return check_cuda(cudaMemcpyAsync(to, from, width, cudaMemcpyDefault, stream), "copy");
  }
  const CopyLoop& rows = nest.loops.back();
  std::int64_t copies = 1;
  for (std::size_t i = 0; i + 1 < nest.loops.size(); ++i) copies *= nest.loops[i].count;
  for (std::int64_t number = 0; number < copies; ++number) {
    std::int64_t rest = number, from_offset = 0, to_offset = 0;
    for (std::size_t i = nest.loops.size() - 1; i-- > 0;) {
      const CopyLoop& loop = nest.loops[i];
      from_offset += rest % loop.count * loop.from_stride;
      to_offset += rest % loop.count * loop.to_stride;
      rest /= loop.count;
    }
    check_cuda(cudaMemcpy2DAsync(to + to_offset, static_cast<std::size_t>(rows.to_stride), from + from_offset,
                                 static_cast<std::size_t>(rows.from_stride), width,
                                 static_cast<std::size_t>(rows.count), cudaMemcpyDefault, stream),
               "copy");
  }
}

void CudaAccelerator::accumulate(const StridedCopy& nest, Dtype dtype, Reduction reduction, const void* from,
                                 void* to, Stream stream) {
  if (nest.item_bytes == 0) return;
  check(is_defined(reduction, dtype), "{} of {} is not defined", partita::name(reduction),
        partita::name(dtype));
  static_assert(static_cast<int>(cuda::Element::c128) == static_cast<int>(Dtype::c128));
  static_assert(static_cast<int>(cuda::Operation::max) == static_cast<int>(Reduction::max));
  static_assert(static_cast<int>(cuda::Operation::bit_xor) == static_cast<int>(Reduction::bit_xor));
  check_launch(cuda::launch_accumulate(kernel_nest(nest), static_cast<cuda::Element>(dtype),
                                       static_cast<cuda::Operation>(reduction),
                                       static_cast<const char*>(from) + nest.from_offset,
                                       static_cast<char*>(to) + nest.to_offset, native(stream)),
               "accumulate");
}

void CudaAccelerator::fill(const StridedCopy& nest, const void* element, std::int64_t element_bytes, void* to,
                           Stream stream) {
  if (nest.item_bytes == 0) return;
  cuda::Pattern pattern;
  auto* const bytes = reinterpret_cast<char*>(pattern.words);
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(sizeof(pattern)); at += element_bytes) {
    std::memcpy(bytes + at, element, static_cast<std::size_t>(element_bytes));
  }
  check_launch(
      cuda::launch_fill(kernel_nest(nest), pattern, static_cast<char*>(to) + nest.to_offset, native(stream)),
      "fill");
}

/// The driver's own operations on flags know only numbers that the host knows: a kernel counts on the device.
void CudaAccelerator::count_flags(std::span<const FlagOperation> operations, cudaStream_t stream) {
  for (std::size_t first = 0; first < operations.size(); first += cuda::most_flags) {
    const std::size_t count = std::min<std::size_t>(cuda::most_flags, operations.size() - first);
    check_launch(cuda::launch_flags(kernel_flags(operations.subspan(first, count)), stream), "flags");
  }
}

void CudaAccelerator::flags(std::span<const FlagOperation> operations, Stream stream) {
  if (!operations.empty() && operations.front().count != nullptr) {
    return count_flags(operations, native(stream));
  }
  constexpr std::size_t most = 256;  // that the driver takes at once
  for (std::size_t first = 0; first < operations.size(); first += most) {
    batch_.clear();
    for (const FlagOperation& one : operations.subspan(first, std::min(most, operations.size() - first))) {
      CUstreamBatchMemOpParams operation{};
      if (one.kind == FlagOperation::Kind::write) {
        operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
        operation.writeValue.address = reinterpret_cast<CUdeviceptr>(one.flag);
        operation.writeValue.value64 = one.value;
        operation.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
      } else {
        operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
        operation.waitValue.address = reinterpret_cast<CUdeviceptr>(one.flag);
        operation.waitValue.value64 = one.value;
        operation.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
      }
      batch_.push_back(operation);
    }
    check_cuda(CudaDriver::get().stream_batch(native(stream), static_cast<unsigned>(batch_.size()),
                                              batch_.data(), 0),
               "flags in a stream");
  }
}

void CudaAccelerator::move_past(void* to, const void* from, std::int64_t bytes) {
  using namespace std::chrono_literals;
  constexpr auto longest = 10s;
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
