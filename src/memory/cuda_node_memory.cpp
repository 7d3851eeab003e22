#include "memory/cuda_node_memory.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "device/cuda_capture.hpp"
#include "device/cuda_driver.hpp"
#include "memory/descriptor_exchange.hpp"
#include "memory/page.hpp"
#include "memory/segment_growth.hpp"
#include "runtime/agree.hpp"
#include "runtime/context_state.hpp"

namespace partita {
namespace {

constexpr std::string_view operation = "share device memory within the node";
constexpr std::int64_t least_growth = std::int64_t{64} << 20;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

CUmemAllocationProp properties(int device) {
  CUmemAllocationProp result{};
  result.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  result.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  result.location.id = device;
  result.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return result;
}

std::int64_t memory_of(int device) {
  cudaDeviceProp found{};
  check_cuda(cudaGetDeviceProperties(&found, device), "look at the device");
  return static_cast<std::int64_t>(found.totalGlobalMem);
}

CUdeviceptr device_address(const char* address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

}  // namespace

CudaNodeMemory::CudaNodeMemory(ContextState& state, const Topology& topology, int device)
    : state_(state), places_(topology, state.rank()), device_(device) {
  for (int node = 0; node < topology.node_count(); ++node) {
    if (topology.node_ranks(node).size() > 1) alone_ = false;
  }
  std::int64_t mine = 0;
  collectively(state, operation, [&]() -> std::vector<Fact> {
    mine = round_up(memory_of(device_), gibibyte);
    cap_ = heap_limit(state.options);
    return {};
  });
  for (const std::string& text : exchange(state, operation, std::to_string(mine))) {
    stride_ = std::max<std::int64_t>(stride_, std::stoll(text));
  }
  collectively(state, operation, [&]() -> std::vector<Fact> {
    reserve();
    return {};
  });
}

CudaNodeMemory::~CudaNodeMemory() {
  if (base_ == 0) return;
  const CudaBesideCaptures unharmed;
  const CudaDriver& driver = CudaDriver::get();
  for (const auto& [address, bytes] : mapped_) {
    driver.memory_unmap(device_address(address), static_cast<std::size_t>(bytes));
  }
  for (const Chunk& chunk : chunks_) driver.memory_release(chunk.handle);
  driver.address_free(base_, static_cast<std::size_t>(stride_ * places_.count()));
}

void CudaNodeMemory::reserve() {
  const CudaBesideCaptures unharmed;
  CUdeviceptr base = 0;
  const auto bytes = static_cast<std::size_t>(stride_ * places_.count());
  check_cuda(CudaDriver::get().address_reserve(&base, bytes, static_cast<std::size_t>(huge_page_bytes), 0, 0),
             "reserve device addresses");
  base_ = base;
}

std::int64_t CudaNodeMemory::granularity() const {
  std::size_t bytes = 0;
  const CUmemAllocationProp wanted = properties(device_);
  check_cuda(CudaDriver::get().granularity(&bytes, &wanted, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
             "look at the device's pages");
  return static_cast<std::int64_t>(bytes);
}

char* CudaNodeMemory::segment(int rank) {
  if (!refused_.empty() && rank != state_.rank()) return nullptr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver speaks of both as numbers
  return places_.segment(reinterpret_cast<char*>(base_), stride_, rank);
}

void CudaNodeMemory::map(char* address, const Chunk& chunk) {
  const CudaDriver& driver = CudaDriver::get();
  const auto bytes = static_cast<std::size_t>(chunk.bytes);
  check_cuda(driver.memory_map(device_address(address), bytes, 0, chunk.handle, 0), "map device memory");
  mapped_.emplace_back(address, chunk.bytes);
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device_;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  check_cuda(driver.set_access(device_address(address), bytes, &access, 1), "gain access to device memory");
}

void CudaNodeMemory::grow(std::int64_t bytes) {
  check<MemoryError>(bytes <= cap_, "no memory left: {} bytes wanted, PARTITA_MEMORY_LIMIT is {}", bytes,
                     cap_);
  check<MemoryError>(bytes <= stride_, "no memory left: {} bytes wanted, the range reserved for a rank is {}",
                     bytes, stride_);
  if (bytes <= grown_) return;
  const CudaBesideCaptures unharmed;
  Chunk chunk;
  chunk.first = grown_;
  chunk.bytes = round_up(std::max(bytes - grown_, std::min(least_growth, stride_ - grown_)), granularity());
  const CUmemAllocationProp wanted = properties(device_);
  CUmemGenericAllocationHandle handle = 0;
  check_cuda(CudaDriver::get().memory_create(&handle, static_cast<std::size_t>(chunk.bytes), &wanted, 0),
             fmt::format("{} bytes for the heap", chunk.bytes));
  chunk.handle = handle;
  chunks_.push_back(chunk);
  grown_ += chunk.bytes;
  map(segment(state_.rank()) + chunk.first, chunk);
}

std::string CudaNodeMemory::unshared_text() const {
  const auto* const first = reinterpret_cast<const char*>(chunks_.data() + shared_);
  return {first, (chunks_.size() - shared_) * sizeof(Chunk)};
}

std::vector<FileDescriptor> CudaNodeMemory::export_unshared() const {
  std::vector<FileDescriptor> files;
  for (std::size_t i = shared_; i < chunks_.size(); ++i) {
    int file = -1;
    check_cuda(CudaDriver::get().export_handle(&file, chunks_[i].handle,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
               "pass device memory on");
    files.emplace_back(file);
  }
  if (files.empty()) files.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));  // one has to travel
  return files;
}

/// `files`: null between threads, whose handles are good for all.
void CudaNodeMemory::import_chunks(int rank, std::string_view text, std::vector<FileDescriptor>* files) {
  const CudaDriver& driver = CudaDriver::get();
  for (std::size_t i = 0; i * sizeof(Chunk) < text.size(); ++i) {
    Chunk chunk;
    std::memcpy(&chunk, text.data() + i * sizeof(Chunk), sizeof(Chunk));
    if (files == nullptr) {
      map(segment(rank) + chunk.first, chunk);
      continue;
    }
    CUmemGenericAllocationHandle handle = 0;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver speaks of both as numbers
    auto* const descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(files->at(i).get()));
    check_cuda(driver.import_handle(&handle, descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
               "take a peer's device memory");
    chunk.handle = handle;
    try {
      map(segment(rank) + chunk.first, chunk);
    } catch (...) {
      driver.memory_release(handle);
      throw;
    }
    driver.memory_release(handle);  // the mapping holds it
  }
}

void CudaNodeMemory::share_growth() {
  if (alone_ || !refused_.empty()) {
    shared_ = chunks_.size();
    return;
  }
  const bool first = shared_ == 0;
  try {
    share_with_peers();
  } catch (const Error& error) {
    if (!first || state_.failed()) throw;  // the same on all ranks
    refused_ = error.what();
  }
  shared_ = chunks_.size();
}

void CudaNodeMemory::share_with_peers() {
  const CudaBesideCaptures unharmed;
  const std::vector<std::string> texts = exchange(state_, operation, unshared_text());
  std::vector<std::vector<FileDescriptor>> files;
  if (!state_.group->in_process()) {
    std::vector<FileDescriptor> mine;
    collectively(state_, operation, [&]() -> std::vector<Fact> {
      mine = export_unshared();
      return {};
    });
    std::vector<int> numbers;
    for (const FileDescriptor& file : mine) numbers.push_back(file.get());
    files = exchange_descriptors(state_, operation, numbers);
  }
  collectively(state_, operation, [&]() -> std::vector<Fact> {
    for (const int rank : places_.ranks()) {
      if (rank == state_.rank()) continue;
      const auto place = static_cast<std::size_t>(rank);
      import_chunks(rank, texts[place], files.empty() ? nullptr : &files[place]);
    }
    return {};
  });
}

}  // namespace partita
