// How a rank's segment grows, of the host or of a device: limits looked at first, then memory taken in steps.
#pragma once

#include <cstdint>
#include <functional>
#include <partita/context.hpp>
#include <utility>

#include "memory/page.hpp"

namespace partita::memory {

/// The memory behind one rank's segment.
class SegmentGrowth {
 public:
  struct Backing {
    /// Takes memory for [first, end) of the segment. Throws MemoryError; what it took is then given back by
    /// `give_back`.
    std::function<void(std::int64_t first, std::int64_t end)> populate;
    std::function<void(std::int64_t first, std::int64_t end)> give_back = [](std::int64_t, std::int64_t) {};
    /// Throws MemoryError where there is no room for so many bytes more. Asked before all, and again before
    /// each step, because the node's other ranks grow at the same time.
    std::function<void(std::int64_t bytes)> check_room = [](std::int64_t) {};
  };
  struct Sizes {
    std::int64_t unit = huge_page_bytes;  ///< memory is taken in multiples of it
    std::int64_t least = 0;  ///< a growth is of so much, or of what is there already, if there is so much
    std::int64_t step = std::int64_t{256} << 20;  ///< taken at once at most, a multiple of the unit
  };

  /// `cap`: the user's limit of a rank's heap (see `heap_limit`).
  SegmentGrowth(std::int64_t stride, std::int64_t cap, Backing backing, Sizes sizes)
      : stride_(stride), cap_(cap), backing_(std::move(backing)), sizes_(sizes) {}
  SegmentGrowth(std::int64_t stride, std::int64_t cap, Backing backing)
      : SegmentGrowth(stride, cap, std::move(backing), Sizes()) {}

  /// Makes the segment at least `bytes` long. Throws MemoryError or what the backing throws, and then the
  /// segment is as it was.
  void grow(std::int64_t bytes);
  /// How many bytes have memory.
  std::int64_t populated() const { return populated_; }

 private:
  void check_limits(std::int64_t bytes) const;
  std::int64_t stride_;
  std::int64_t cap_;
  Backing backing_;
  Sizes sizes_;
  std::int64_t populated_ = 0;
};

/// Bytes that a rank's heap may have, by `options.memory_limit`.
std::int64_t heap_limit(const ContextOptions& options);

}  // namespace partita::memory
