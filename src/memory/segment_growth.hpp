// How a rank's segment grows: limits looked at first, then memory taken in steps.
#pragma once

#include <cstdint>
#include <functional>
#include <partita/context.hpp>

namespace partita {

/// The memory behind one rank's segment, taken and given back in multiples of 2 MiB.
class SegmentGrowth {
 public:
  struct Backing {
    /// Takes memory for [first, end) of the segment. Throws MemoryError; what it took is then given back by
    /// `give_back`.
    std::function<void(std::int64_t first, std::int64_t end)> populate;
    std::function<void(std::int64_t first, std::int64_t end)> give_back;
  };

  /// `cap`: the user's limit of a rank's heap (see `heap_limit`).
  SegmentGrowth(std::int64_t stride, int node_ranks, std::int64_t cap, Backing backing)
      : stride_(stride), node_ranks_(node_ranks), cap_(cap), backing_(std::move(backing)) {}

  /// Makes the segment at least `bytes` long. Throws MemoryError, and then the segment is as it was.
  void grow(std::int64_t bytes);
  /// How many bytes have memory.
  std::int64_t populated() const { return populated_; }

 private:
  void check_limits(std::int64_t bytes) const;
  std::int64_t stride_;
  int node_ranks_;
  std::int64_t cap_;
  Backing backing_;
  std::int64_t populated_ = 0;
};

/// Bytes that a rank's heap may have, by `options.memory_limit`.
std::int64_t heap_limit(const ContextOptions& options);

}  // namespace partita
