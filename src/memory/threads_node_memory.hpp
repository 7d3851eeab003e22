// Node memory of ranks that are threads of one process: one range of anonymous memory.
#pragma once

#include <memory>

#include "memory/node_memory.hpp"
#include "memory/node_places.hpp"
#include "memory/segment_growth.hpp"

namespace partita::memory {

class ThreadsNodeMemory final : public NodeMemory {
 public:
  ThreadsNodeMemory(runtime::Runtime& state, std::int64_t control_bytes);

  void* control() override;
  char* segment(int rank) override;
  std::int64_t stride() const override;
  void grow(std::int64_t bytes) override { growth_->grow(bytes); }
  void give_back_addresses() noexcept override;

 private:
  struct Shared;
  void receive_shared(runtime::Runtime& state, std::shared_ptr<Shared> made);
  void adopt(const std::shared_ptr<Shared>& theirs, const runtime::Runtime& state);

  NodePlaces places_;
  int rank_;
  std::shared_ptr<Shared> shared_;  // lives as long as a rank of the node does
  std::unique_ptr<SegmentGrowth> growth_;
};

}  // namespace partita::memory
