#include "memory/cuda_node_memory.hpp"

#include <fcntl.h>

#include "base/check.hpp"
#include "base/units.hpp"
#include "cuda/driver.hpp"
#include "cuda/stream.hpp"
#include "memory/descriptor_exchange.hpp"
#include "memory/page.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/runtime.hpp"

namespace partita::memory {
namespace {

constexpr std::string_view sharing_device_memory = "share device memory within the node";
constexpr std::int64_t least_growth = std::int64_t{64} << 20;

CUmemAllocationProp properties(int device) {
  CUmemAllocationProp result{};
  result.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  result.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  result.location.id = device;
  result.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return result;
}

CUdeviceptr device_address(const char* address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

}  // namespace

CudaNodeMemory::CudaNodeMemory(runtime::Runtime& state, const Topology& topology, int device,
                               const cuda::CudaVirtualMemory& driver)
    : state_(state), driver_(driver), places_(topology, state.rank()), device_(device) {
  alone_ = most_ranks_of_a_node(topology) == 1;
  std::int64_t mine = 0;
  runtime::collectively(state, sharing_device_memory, [&] {
    std::size_t bytes = 0;
    cuda::check_cuda(driver_.turn()->device_bytes(&bytes, device_), "query the device");
    mine = round_up(static_cast<std::int64_t>(bytes), gibibyte);
  });
  stride_ = runtime::largest_of_ranks(state, sharing_device_memory, mine);
  runtime::collectively(state, sharing_device_memory, [&] {
    growth_.emplace(make_growth());
    reserve();
  });
}

CudaNodeMemory::~CudaNodeMemory() {
  const cuda::CudaBesideCaptures unharmed;
  const auto turn = driver_.turn();
  unmap_after(0, turn);
  for (const Chunk& chunk : chunks_) turn->release(chunk.handle);
  turn->free_addresses(base_, static_cast<std::size_t>(stride_ * places_.count()));
}

SegmentGrowth CudaNodeMemory::make_growth() {
  std::size_t page = 0;
  const CUmemAllocationProp wanted = properties(device_);
  cuda::check_cuda(driver_.turn()->granularity(&page, &wanted, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                   "query the device's pages");
  return {stride_,
          heap_limit(state_.options),
          {.populate = [this](std::int64_t first, std::int64_t end) { populate(first, end); }},
          {.unit = static_cast<std::int64_t>(page), .least = least_growth, .step = stride_}};
}

void CudaNodeMemory::reserve() {
  const cuda::CudaBesideCaptures unharmed;
  CUdeviceptr base = 0;
  const auto bytes = static_cast<std::size_t>(stride_ * places_.count());
  cuda::check_cuda(
      driver_.turn()->reserve_addresses(&base, bytes, static_cast<std::size_t>(huge_page_bytes), 0, 0),
      "reserve device addresses");
  base_ = base;
}

char* CudaNodeMemory::segment(int rank) {
  if (!refused_.empty() && rank != state_.rank()) return nullptr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver speaks of both as numbers
  return places_.segment(reinterpret_cast<char*>(base_), stride_, rank);
}

void CudaNodeMemory::map(char* address, const Chunk& chunk) {
  const auto bytes = static_cast<std::size_t>(chunk.bytes);
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device_;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  mapped_.reserve(mapped_.size() + 1);  // nothing but the driver may fail from here on
  const auto turn = driver_.turn();
  cuda::check_cuda(turn->map(device_address(address), bytes, 0, chunk.handle, 0), "map device memory");
  const CUresult accessible = turn->set_access(device_address(address), bytes, &access, 1);
  if (accessible != CUDA_SUCCESS) turn->unmap(device_address(address), bytes);
  cuda::check_cuda(accessible, "gain access to device memory");
  mapped_.emplace_back(address, chunk.bytes);
}

/// All but the first `kept` of what is mapped.
void CudaNodeMemory::unmap_after(std::size_t kept, const cuda::CudaVirtualMemory::Turn& turn) noexcept {
  for (; mapped_.size() > kept; mapped_.pop_back()) {
    const auto& [address, bytes] = mapped_.back();
    turn->unmap(device_address(address), static_cast<std::size_t>(bytes));
  }
}

/// All of it or nothing.
void CudaNodeMemory::populate(std::int64_t first, std::int64_t end) {
  const cuda::CudaBesideCaptures unharmed;
  Chunk chunk{first, end - first, 0};
  const CUmemAllocationProp wanted = properties(device_);
  CUmemGenericAllocationHandle handle = 0;
  chunks_.reserve(chunks_.size() + 1);
  cuda::check_cuda(driver_.turn()->create(&handle, static_cast<std::size_t>(chunk.bytes), &wanted, 0),
                   fmt::format("{} bytes for the heap", chunk.bytes));
  chunk.handle = handle;
  try {
    map(segment(state_.rank()) + chunk.first, chunk);
  } catch (...) {
    driver_.turn()->release(handle);
    throw;
  }
  chunks_.push_back(chunk);
}

std::vector<FileDescriptor> CudaNodeMemory::export_unshared() const {
  std::vector<FileDescriptor> files;
  for (std::size_t i = shared_; i < chunks_.size(); ++i) {
    int file = -1;
    cuda::check_cuda(
        driver_.turn()->export_handle(&file, chunks_[i].handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        "export device memory");
    files.emplace_back(file);
  }
  if (files.empty()) files.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));  // one has to travel
  return files;
}

/// `files`: null between threads, whose handles are good for all.
void CudaNodeMemory::import_chunks(int rank, std::vector<Chunk> chunks, std::vector<FileDescriptor>* files) {
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    Chunk& chunk = chunks[i];
    if (files == nullptr) {
      map(segment(rank) + chunk.first, chunk);
      continue;
    }
    CUmemGenericAllocationHandle handle = 0;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver speaks of both as numbers
    auto* const descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(files->at(i).get()));
    cuda::check_cuda(
        driver_.turn()->import_handle(&handle, descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        "import a peer's device memory");
    chunk.handle = handle;
    try {
      map(segment(rank) + chunk.first, chunk);
    } catch (...) {
      driver_.turn()->release(handle);
      throw;
    }
    driver_.turn()->release(handle);  // the mapping holds it
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
  const cuda::CudaBesideCaptures unharmed;
  const std::vector<Chunk> unshared(chunks_.begin() + static_cast<std::ptrdiff_t>(shared_), chunks_.end());
  const std::vector<std::vector<Chunk>> chunks =
      runtime::exchange_values(state_, sharing_device_memory, unshared);
  std::vector<std::vector<FileDescriptor>> files;
  if (!state_.group->in_process()) {
    std::vector<FileDescriptor> mine;
    runtime::collectively(state_, sharing_device_memory, [&] { mine = export_unshared(); });
    std::vector<int> numbers;
    for (const FileDescriptor& file : mine) numbers.push_back(file.get());
    files = exchange_descriptors(state_, sharing_device_memory, numbers);
  }
  const std::size_t before = mapped_.size();
  try {
    runtime::collectively(state_, sharing_device_memory, [&] {
      for (const int rank : places_.ranks()) {
        if (rank == state_.rank()) continue;
        const auto place = static_cast<std::size_t>(rank);
        import_chunks(rank, chunks[place], files.empty() ? nullptr : &files[place]);
      }
    });
  } catch (...) {
    // Some ranks have mapped what others could not: it is shared anew next time.
    unmap_after(before, driver_.turn());
    throw;
  }
}

}  // namespace partita::memory
