#include "memory/segment_growth.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/check.hpp"
#include "memory/node_limits.hpp"
#include "memory/page.hpp"

namespace partita {
namespace {

/// Memory is taken in steps of this size; before each, the headroom is read again, because the node's other
/// ranks grow at the same time.
constexpr std::int64_t step = std::int64_t{256} << 20;

/// All ranks of the node take about as much at once, and the rest of the machine lives too.
void check_headroom(std::int64_t bytes, int node_ranks) {
  const NodeLimits limits = NodeLimits::read();
  const std::int64_t usable = limits.available - limits.available / 32;
  check<MemoryError>(
      bytes <= usable / node_ranks,
      "no memory left: {} bytes wanted on each of the {} ranks of the node, {} bytes available "
      "to all of them within the limit of {}",
      bytes, node_ranks, usable, limits.bound);
}

}  // namespace

std::int64_t heap_limit(const ContextOptions& options) {
  return options.memory_limit > 0 ? options.memory_limit : std::numeric_limits<std::int64_t>::max();
}

void SegmentGrowth::check_limits(std::int64_t bytes) const {
  check<MemoryError>(bytes <= cap_, "no memory left: {} bytes wanted, PARTITA_MEMORY_LIMIT is {}", bytes,
                     cap_);
  check<MemoryError>(bytes <= stride_, "no memory left: {} bytes wanted, the range reserved for a rank is {}",
                     bytes, stride_);
  check_headroom(round_up(bytes, huge_page_bytes) - populated_, node_ranks_);
}

void SegmentGrowth::grow(std::int64_t bytes) {
  if (bytes <= populated_ && bytes <= cap_) return;
  check_limits(bytes);
  const std::int64_t end = round_up(bytes, huge_page_bytes);
  std::int64_t taken = populated_;
  try {
    while (taken < end) {
      const std::int64_t next = std::min(end, taken + step);
      if (taken > populated_) check_headroom(next - taken, node_ranks_);
      backing_.populate(taken, next);
      taken = next;
    }
  } catch (...) {
    backing_.give_back(populated_, end);
    throw;
  }
  populated_ = end;
}

}  // namespace partita
