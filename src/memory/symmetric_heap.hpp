// The symmetric heap: collective allocate and free over NodeMemory, with deferred release.
#pragma once

#include <cstdint>
#include <functional>
#include <partita/source_place.hpp>
#include <string>
#include <string_view>

#include "memory/free_list.hpp"
#include "memory/heap_blocks.hpp"
#include "memory/node_memory.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {
class Rendezvous;
struct Report;
struct Summary;
}  // namespace partita::runtime

namespace partita::memory {

/// All ranks make the same sequence of allocations and releases, so the (deterministic, best-fit, coalescing)
/// free list gives the same offset on every rank without talking about it. Freed blocks are re-used; segments
/// never shrink.
class SymmetricHeap {
 public:
  enum class Sizes : std::uint8_t { equal, largest };

  /// Collective, blocking: see SymmetricMemory::allocate. `facts`-like text `purpose` names what it is for in
  /// errors.
  HeapBlock allocate(std::int64_t bytes, Sizes sizes, std::string_view purpose, SourcePlace where);
  /// Collective, blocking, at once.
  void free(void* pointer);
  /// Called when the owner is destroyed. Local, callable from any thread, never throws; the block is released
  /// at the next collective point.
  void drop(std::uint64_t id) noexcept { blocks_.drop(id); }
  /// A named point: releases what all ranks have dropped. Collective, blocking.
  void collect();

  void* address(const HeapBlock& block) const { return at(state_.rank(), block.offset); }
  /// Offset of a pointer into this rank's segment that is inside a live block; -1 if there is none. Local.
  std::int64_t offset_of(const void* pointer) const;
  /// `offset` on a rank; null on another node. Local.
  void* at(int rank, std::int64_t offset) const {
    char* const segment = memory_.segment(rank);
    return segment == nullptr ? nullptr : segment + offset;
  }
  /// Live blocks (not dropped) with where they were allocated, one line each.
  std::string leaks() const { return blocks_.describe_live(); }

  /// Called for an operation of this name before the ranks synchronise in it; if the rank is about to report
  /// dropped blocks, it returns when no work of this rank uses them any more. False: that cannot be awaited
  /// now, and they are reported later.
  using Settle = std::function<bool(std::string_view operation, bool dropped)>;
  /// Drops blocks that are kept only to save time, the same on all ranks, where there is no memory for
  /// another one. False: there are none.
  using MakeRoom = std::function<bool()>;
  /// In `memory`; `what` names it in errors: "symmetric memory". Both outlive it, as what `settle` and
  /// `make_room` use.
  SymmetricHeap(runtime::Runtime& state, NodeMemory& memory, Settle settle, MakeRoom make_room,
                std::string_view what = "symmetric memory");

  /// Of all blocks that were ever allocated here. Local.
  std::int64_t bytes_allocated() const { return bytes_allocated_; }

 private:
  runtime::Summary meet(runtime::Rendezvous& rendezvous, std::string_view operation,
                        const runtime::Report& report, std::int64_t bytes);
  void release_dropped(runtime::Rendezvous& rendezvous, const runtime::Summary& all, const std::string& mine);
  std::int64_t place(std::int64_t bytes);
  std::int64_t place_with_room(std::int64_t bytes);
  void grow(std::int64_t bytes);
  std::int64_t segment_offset(const void* pointer) const;

  const std::string allocating_, freeing_, collecting_;  // the operations, for errors
  runtime::Runtime& state_;
  NodeMemory& memory_;
  Settle settle_;
  MakeRoom make_room_;
  mutable HeapBlocks blocks_;
  FreeList free_list_;
  std::int64_t bytes_allocated_ = 0;
  std::int64_t grown_ = 0;  // all ranks' segments are at least so long
};

}  // namespace partita::memory
