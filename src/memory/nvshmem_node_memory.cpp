#include "memory/nvshmem_node_memory.hpp"

#include <partita/topology.hpp>

#include "base/check.hpp"
#include "memory/segment_growth.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/runtime.hpp"

namespace partita::memory {
namespace {

constexpr std::string_view sharing_by_nvshmem = "share device memory by NVSHMEM";

}  // namespace

NvshmemNodeMemory::Holding::~Holding() {
  if (range.bytes > 0) NvshmemWorld::of_process().release(range.first);
}

NvshmemNodeMemory::NvshmemNodeMemory(runtime::Runtime& state, const Topology& topology,
                                     const NvshmemDevice& device, const NvshmemLibrary& library)
    : segments_(static_cast<std::size_t>(state.size())) {
  NvshmemWorld& world = NvshmemWorld::of_process();
  const std::vector<int> pes = world.join(state, device, library);
  holding_.range = world.take(state, pes);
  runtime::collectively(state, sharing_by_nvshmem, [&] {
    cap_ = heap_limit(state.options);
    for (const int rank : topology.node_ranks(topology.node(state.rank()))) {
      const auto place = static_cast<std::size_t>(rank);
      char* const memory = world.memory_of(pes[place]);
      check<UnsupportedError>(memory != nullptr, "NVSHMEM: rank {} cannot map the memory of rank {}",
                              state.rank(), rank);
      segments_[place] = memory + holding_.range.first;
    }
  });
}

void NvshmemNodeMemory::grow(std::int64_t bytes) {
  check<MemoryError>(bytes <= cap_, "out of memory: {} bytes requested, PARTITA_MEMORY_LIMIT is {}", bytes,
                     cap_);
  check<MemoryError>(bytes <= stride(),
                     "out of memory: {} bytes requested, {} of NVSHMEM's belong to this context", bytes,
                     stride());
}

}  // namespace partita::memory
