#include "memory/segment_growth.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace partita::memory {

std::int64_t heap_limit(const ContextOptions& options) {
  return options.memory_limit > 0 ? options.memory_limit : std::numeric_limits<std::int64_t>::max();
}

void SegmentGrowth::check_limits(std::int64_t bytes) const {
  check<MemoryError>(bytes <= cap_, "out of memory: {} bytes requested, PARTITA_MEMORY_LIMIT is {}", bytes,
                     cap_);
  check<MemoryError>(bytes <= stride_,
                     "out of memory: {} bytes requested, the range reserved for a rank is {}", bytes,
                     stride_);
}

void SegmentGrowth::grow(std::int64_t bytes) {
  if (bytes <= populated_ && bytes <= cap_) return;
  check_limits(bytes);
  const std::int64_t least =
      populated_ + std::min({sizes_.least, populated_, std::min(stride_, cap_) - populated_});
  const std::int64_t end = round_up(std::max(bytes, least), sizes_.unit);
  backing_.check_room(end - populated_);
  std::int64_t taken = populated_;
  try {
    while (taken < end) {
      const std::int64_t next = std::min(end, taken + sizes_.step);
      if (taken > populated_) backing_.check_room(next - taken);
      backing_.populate(taken, next);
      taken = next;
    }
  } catch (...) {
    backing_.give_back(populated_, end);
    throw;
  }
  populated_ = end;
}

}  // namespace partita::memory
