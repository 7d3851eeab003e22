#include "device/cuda_physical_device.hpp"

#include <chrono>
#include <thread>

#include "base/check.hpp"
#include "cuda/stream.hpp"
#include "device/cuda_accelerator.hpp"
#include "device/device_code.hpp"
#include "kernels/cuda/arithmetic_launch.hpp"
#include "kernels/cuda/epilogue_launch.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/line_pass.hpp"
#include "kernels/cuda/line_transform.hpp"
#include "kernels/cuda/not_finite.hpp"
#include "kernels/cuda/packet_launch.hpp"
#include "kernels/cuda/places_launch.hpp"
#include "kernels/cuda/qr_panel.hpp"
#include "kernels/cuda/random_launch.hpp"
#include "kernels/cuda/row_exchange.hpp"
#include "kernels/cuda/scan_launch.hpp"
#include "kernels/cuda/search_launch.hpp"
#include "kernels/cuda/selection_launch.hpp"
#include "kernels/cuda/sort_launch.hpp"
#include "kernels/cuda/symbol_launch.hpp"
#include "kernels/cuda/triangular_solve.hpp"
#include "memory/cuda_node_memory.hpp"
#include "memory/nvshmem_node_memory.hpp"

namespace partita::devices {

namespace {

int attribute_of(cudaDeviceAttr which, int device) {
  int value = 0;
  cuda::check_cuda(cudaDeviceGetAttribute(&value, which, device), "query the device");
  return value;
}

/// Memory of a pool is readable by the devices that the pool has been given to.
std::string let_read_pool(CUmemoryPool pool, std::span<const int> devices) {
  for (const int device : devices) {
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = device;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemAccessFlags now = cudaMemAccessFlagsProtNone;
    const cudaError_t found = cudaMemPoolGetAccess(&now, pool, &access.location);
    if (found == cudaSuccess && now == cudaMemAccessFlagsProtReadWrite) continue;
    if (const cudaError_t refused = cudaMemPoolSetAccess(pool, &access, 1); refused != cudaSuccess) {
      (void)cudaGetLastError();
      return fmt::format("device {} gets no access to its pool: {}", device, cuda::text_of(refused));
    }
  }
  return "";
}

/// Of memory that a program has mapped itself: who may read it. What is not mapped so is not known here.
std::string let_read_mapped(CUdeviceptr address, std::span<const int> devices) {
  const auto turn = cuda::CudaDriver::get().virtual_memory.turn();
  for (const int device : devices) {
    const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, device};
    unsigned long long access = 0;
    if (turn->get_access(&access, &location, address) == CUDA_SUCCESS && access == 0)
      return fmt::format("its owner has not mapped it for device {} (cuMemSetAccess)", device);
  }
  return "";
}

}  // namespace

CudaPhysicalDevice::CudaPhysicalDevice(int index) : index_(index) {
  const cuda::CudaBesideCaptures unharmed;
  (void)cuda::CudaDriver::get();
  const std::string why_not = why_unsuitable(index_);
  check<UnsupportedError>(why_not.empty(), "device {} {}", index_, why_not);
  overlaps_launches_ = attribute_of(cudaDevAttrComputeCapabilityMajor, index_) >= 9;
  multiprocessors_ = attribute_of(cudaDevAttrMultiProcessorCount, index_);
  reaches_all_host_memory_ = attribute_of(cudaDevAttrPageableMemoryAccess, index_);
  use();
  cuda::check_cuda(cudaFree(nullptr), "start the device");
  cuda::check_launch(kernels::cuda::load_copy_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_accumulate_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_convert_kernel(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_pack_kernel(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_packet_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_packet_nest_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_pass_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_elementwise_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_random_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_symbol_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_fold_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_line_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_line_transform_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_plane_transform_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_row_exchange_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_not_finite_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_qr_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_triangular_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_sort_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_scan_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_selection_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_search_kernels(), "load the kernels");
  cuda::check_launch(kernels::cuda::load_places_kernels(), "load the kernels");
  past_ = cuda::new_cuda_stream();
}

std::string CudaPhysicalDevice::why_unsuitable(int index) {
  const int major = attribute_of(cudaDevAttrComputeCapabilityMajor, index),
            minor = attribute_of(cudaDevAttrComputeCapabilityMinor, index);
  if (!has_code_for(PARTITA_CUDA_ARCHITECTURES, major, minor)) {
    return fmt::format(
        "has compute capability {}.{}; this build has kernels for {} (build with "
        "CMAKE_CUDA_ARCHITECTURES={}{})",
        major, minor, describe_architectures(PARTITA_CUDA_ARCHITECTURES), major, minor);
  }
  int addresses = 0;
  cuda::CudaDriver::get().device_attribute(&addresses,
                                           CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, index);
  return addresses != 0 ? "" : "does not support virtual memory management";
}

std::string CudaPhysicalDevice::name() const {
  return fmt::format("{} (device {})", model(), index_);
}

std::string CudaPhysicalDevice::model() const {
  cudaDeviceProp found{};
  cuda::check_cuda(cudaGetDeviceProperties(&found, index_), "query the device");
  return found.name;
}

std::string CudaPhysicalDevice::identity() const {
  cudaDeviceProp found{};
  cuda::check_cuda(cudaGetDeviceProperties(&found, index_), "query the device");
  return {std::begin(found.uuid.bytes), std::end(found.uuid.bytes)};
}

void CudaPhysicalDevice::use() {
  cuda::check_cuda(cudaSetDevice(index_), "use the device");
}

void* CudaPhysicalDevice::new_memory(std::int64_t bytes) {
  const cuda::CudaBesideCaptures unharmed;
  void* memory = nullptr;
  cuda::check_cuda(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), fmt::format("{} bytes", bytes));
  return memory;
}

void CudaPhysicalDevice::free(void* memory) noexcept {
  const cuda::CudaBesideCaptures unharmed;
  cudaFree(memory);
}

void* CudaPhysicalDevice::new_pinned(std::int64_t bytes) {
  const cuda::CudaBesideCaptures unharmed;
  void* memory = nullptr;
  cuda::check_cuda(cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable),
                   fmt::format("{} bytes of pinned host memory", bytes));
  return memory;
}

void CudaPhysicalDevice::free_pinned(void* memory) noexcept {
  const cuda::CudaBesideCaptures unharmed;
  cudaFreeHost(memory);
}

FoundMemory CudaPhysicalDevice::find_memory(const void* address) {
  use();
  const cuda::CudaBesideCaptures unharmed;
  cudaPointerAttributes found{};
  cuda::check_cuda(cudaPointerGetAttributes(&found, address), "query the owner of memory");
  switch (found.type) {
    case cudaMemoryTypeDevice:
      return {false, found.device == index_, found.device};
    case cudaMemoryTypeHost:
    case cudaMemoryTypeManaged:
      return {true, true, -1};
    default:
      return {true, reaches_all_host_memory_ != 0, -1};
  }
}

bool CudaPhysicalDevice::reads_memory_of(int device) {
  if (device == index_) return true;
  use();
  const cuda::CudaBesideCaptures unharmed;
  int can = 0;
  cuda::check_cuda(cudaDeviceCanAccessPeer(&can, index_, device), "query the access to another device");
  if (can == 0) return false;
  const cudaError_t enabled = cudaDeviceEnablePeerAccess(device, 0);
  if (enabled != cudaErrorPeerAccessAlreadyEnabled)
    cuda::check_cuda(enabled, "gain access to another device");
  (void)cudaGetLastError();
  return true;
}

/// What `cudaMalloc` gives is readable by all that have access to the device.
std::string CudaPhysicalDevice::let_read(const void* address, std::span<const int> devices) {
  if (devices.empty()) return "";
  use();
  const cuda::CudaBesideCaptures unharmed;
  const auto attribute = cuda::CudaDriver::get().pointer_attribute;
  const auto where = reinterpret_cast<CUdeviceptr>(address);
  unsigned int plain = 0;
  if (attribute(&plain, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, where) == CUDA_SUCCESS && plain != 0)
    return "";
  CUmemoryPool pool = nullptr;
  const CUresult of_pool = attribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, where);
  if (of_pool == CUDA_SUCCESS && pool != nullptr) return let_read_pool(pool, devices);
  return let_read_mapped(where, devices);
}

std::unique_ptr<memory::NodeMemory> CudaPhysicalDevice::share_memory(runtime::Runtime& state,
                                                                     const Topology& topology) {
  return std::make_unique<memory::CudaNodeMemory>(state, topology, index_,
                                                  cuda::CudaDriver::get().virtual_memory);
}

std::unique_ptr<memory::NodeMemory> CudaPhysicalDevice::share_memory_of_library(runtime::Runtime& state,
                                                                                const Topology& topology) {
  const cuda::CudaBesideCaptures unharmed;
  const auto free_bytes = [this] {
    use();
    std::size_t free = 0, whole = 0;
    cuda::check_cuda(cudaMemGetInfo(&free, &whole), "query the device's memory");
    return static_cast<std::int64_t>(free);
  };
  return std::make_unique<memory::NvshmemNodeMemory>(
      state, topology, memory::NvshmemDevice{device_identity(state, *this), [this] { use(); }, free_bytes},
      memory::NvshmemLibrary::of_process());
}

void CudaPhysicalDevice::copy_past(void* to, const void* from, std::int64_t bytes) {
  using namespace std::chrono_literals;
  constexpr auto longest = 10s;
  const cuda::CudaBesideCaptures unharmed;
  cuda::check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, past_.get()),
                   "copy");
  const auto start = std::chrono::steady_clock::now();
  for (cudaError_t state = cudaStreamQuery(past_.get()); state != cudaSuccess;
       state = cudaStreamQuery(past_.get())) {
    if (state != cudaErrorNotReady) cuda::check_cuda(state, "copy");
    check<Error>(std::chrono::steady_clock::now() - start < longest, "device {} does not respond", index_);
    std::this_thread::sleep_for(5us);
  }
  (void)cudaGetLastError();
}

std::unique_ptr<Accelerator> CudaPhysicalDevice::open(const ContextOptions& options, int ranks) {
  return std::make_unique<CudaAccelerator>(std::static_pointer_cast<CudaPhysicalDevice>(shared_from_this()),
                                           options, ranks);
}

}  // namespace partita::devices
