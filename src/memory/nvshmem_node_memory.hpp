// Node memory on GPUs in NVSHMEM's symmetric heap.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/node_memory.hpp"
#include "memory/nvshmem_world.hpp"

namespace partita {
class Topology;
}

namespace partita::memory {

/// A range of what this process's NvshmemWorld has allocated, at the same offset in the memory of each rank;
/// peers' addresses are NVSHMEM's. All of it has memory from the start, so that growing is only a check.
class NvshmemNodeMemory final : public NodeMemory {
 public:
  /// Collective; UnsupportedError, the same on all ranks, says why not: as NvshmemWorld::join, or a rank
  /// cannot map the memory of another one that `topology` puts on its node.
  NvshmemNodeMemory(runtime::Runtime& state, const Topology& topology, const NvshmemDevice& device,
                    const NvshmemLibrary& library);

  void* control() override { return nullptr; }
  char* segment(int rank) override { return segments_.at(static_cast<std::size_t>(rank)); }
  std::int64_t stride() const override { return holding_.range.bytes; }
  void grow(std::int64_t bytes) override;

 private:
  struct Holding {
    OffsetRange range;
    Holding() = default;
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;
    ~Holding();
  };
  Holding holding_;
  std::int64_t cap_ = 0;
  std::vector<char*> segments_;  // by rank
};

}  // namespace partita::memory
