// The symmetric heap: collective allocate and free over NodeMemory, with deferred release.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <partita/source_place.hpp>
#include <string>
#include <string_view>

namespace partita {

struct Runtime;
class NodeMemory;

/// One block. The id is the same on all ranks: allocation is collective, so all ranks count alike.
struct HeapBlock {
  std::uint64_t id = 0;
  std::int64_t offset = 0;  ///< from the start of every rank's segment
  std::int64_t bytes = 0;   ///< as asked (the largest of all ranks)
};

/// All ranks make the same sequence of allocations and releases, so the (deterministic, best-fit, coalescing)
/// free list gives the same offset on every rank without talking about it. Freed blocks are re-used; segments
/// never shrink.
class SymmetricHeap {
 public:
  virtual ~SymmetricHeap() = default;

  enum class Sizes : std::uint8_t { equal, largest };

  /// Collective, blocking: see SymmetricMemory::allocate. `facts`-like text `purpose` names what it is for in
  /// errors.
  virtual HeapBlock allocate(std::int64_t bytes, Sizes sizes, std::string_view purpose,
                             SourcePlace where) = 0;
  /// Collective, blocking, at once.
  virtual void free(void* pointer) = 0;
  /// The owner is gone. Local, any thread, never throws; the block is released at the next named point.
  virtual void drop(std::uint64_t id) noexcept = 0;
  /// A named point: releases what all ranks have dropped. Collective, blocking.
  virtual void collect() = 0;

  virtual void* address(const HeapBlock& block) const = 0;
  /// Offset of a pointer into this rank's segment that lies in a live block; -1: not ours. Local.
  virtual std::int64_t offset_of(const void* pointer) const = 0;
  /// `offset` on a rank; null on another node. Local.
  virtual void* at(int rank, std::int64_t offset) const = 0;
  /// Live blocks (not dropped) with where they were allocated, one line each.
  virtual std::string leaks() const = 0;

  /// Returns when nothing that this rank has started uses blocks any more; for an operation of this name.
  using Settle = std::function<void(std::string_view operation)>;
  /// In `memory`; `what` names it in errors: "symmetric memory". Both outlive it, as what `settle` uses,
  /// which is called before the ranks tell each other what they have dropped.
  static std::unique_ptr<SymmetricHeap> create(Runtime& state, NodeMemory& memory, Settle settle,
                                               std::string_view what = "symmetric memory");
};

}  // namespace partita
