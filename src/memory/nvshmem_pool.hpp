// Which parts of NVSHMEM's memory are free, for contexts that not all processes belong to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace partita::memory {

/// Offsets [first, first + bytes), the same for all PEs.
struct OffsetRange {
  std::int64_t first = 0;
  std::int64_t bytes = 0;
};

/// One process's record of the memory that all PEs have allocated together. A context takes a range on its
/// own PEs only; other PEs may have assigned the same offsets to another context.
///
/// A released range may still be written by peers that have not released theirs: only a context that contains
/// all of them may take it again, because its PEs exchange their records first. Lists of PEs are sorted.
class NvshmemPool {
 public:
  explicit NvshmemPool(std::int64_t bytes = 0) : bytes_(bytes) {}

  /// What a context of these PEs may take here, in order, no two adjacent.
  std::vector<OffsetRange> free_for(std::span<const int> pes) const;
  /// Throws Error (another thread was quicker): not all of it is free for them.
  void take(const OffsetRange& range, const std::vector<int>& pes);
  void release(std::int64_t first) noexcept;

 private:
  struct Taken {
    OffsetRange range;
    std::vector<int> pes;
    bool held = true;
  };
  std::int64_t bytes_;
  std::vector<Taken> taken_;
};

/// What is in all of the books; each is in order.
std::vector<OffsetRange> common_ranges(std::span<const std::vector<OffsetRange>> books);

/// The largest, the first among equals; no bytes where there is none.
OffsetRange largest_range(std::span<const OffsetRange> ranges);

}  // namespace partita::memory
