// Node memory of processes: memory files, mapped into one reserved range of addresses.
#pragma once

#include <memory>

#include "base/file_descriptor.hpp"
#include "memory/node_memory.hpp"
#include "memory/node_places.hpp"
#include "memory/reservation.hpp"
#include "memory/segment_growth.hpp"

namespace partita::memory {

/// Each rank has a memory file (memfd_create) for its segment; the first rank of the node one more for the
/// control memory. Nothing of them has a name in the file system, so nothing is left behind however a process
/// ends, and the size of /dev/shm does not matter.
class ProcessNodeMemory final : public NodeMemory {
 public:
  ProcessNodeMemory(runtime::Runtime& state, std::int64_t control_bytes);

  void* control() override { return control_.data(); }
  char* segment(int rank) override { return places_.segment(range_.data(), stride_, rank); }
  std::int64_t stride() const override { return stride_; }
  void grow(std::int64_t bytes) override { growth_->grow(bytes); }
  void give_back_addresses() noexcept override;

 private:
  void make_files(runtime::Runtime& state, std::int64_t control_bytes);
  void map_files(runtime::Runtime& state, std::int64_t control_bytes);
  SegmentGrowth::Backing backing();

  NodePlaces places_;
  Reservation range_;
  Reservation control_;
  std::int64_t stride_ = 0;
  char* mine_ = nullptr;
  FileDescriptor segment_file_;
  FileDescriptor control_file_;  // only while it is passed on
  std::unique_ptr<SegmentGrowth> growth_;
};

/// The stride that all ranks can reserve, and this rank's range of it for `parts` segments, one of `nodes`
/// such ranges in this process. Collective.
std::pair<Reservation, std::int64_t> reserve_segments_alike(runtime::Runtime& state, int parts, int nodes);

}  // namespace partita::memory
