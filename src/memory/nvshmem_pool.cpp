#include "memory/nvshmem_pool.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace partita::memory {
namespace {

std::int64_t end_of(const OffsetRange& range) {
  return range.first + range.bytes;
}

bool holds(const OffsetRange& outer, const OffsetRange& inner) {
  return outer.first <= inner.first && end_of(inner) <= end_of(outer);
}

}  // namespace

std::vector<OffsetRange> NvshmemPool::free_for(std::span<const int> pes) const {
  std::vector<OffsetRange> blocked;
  for (const Taken& one : taken_) {
    if (one.held || !std::ranges::includes(pes, one.pes)) blocked.push_back(one.range);
  }
  std::ranges::sort(blocked, {}, &OffsetRange::first);
  std::vector<OffsetRange> free;
  std::int64_t next = 0;
  for (const OffsetRange& range : blocked) {
    if (range.first > next) free.push_back({next, range.first - next});
    next = std::max(next, end_of(range));
  }
  if (bytes_ > next) free.push_back({next, bytes_ - next});
  return free;
}

void NvshmemPool::take(const OffsetRange& range, const std::vector<int>& pes) {
  const std::vector<OffsetRange> free = free_for(pes);
  const bool here = std::ranges::any_of(free, [&](const OffsetRange& part) { return holds(part, range); });
  check<Error>(here, "another context allocated NVSHMEM's memory concurrently");
  // What the new range covers has been given back by all of its PEs, which are among these.
  std::erase_if(taken_, [&](const Taken& one) { return holds(range, one.range); });
  taken_.push_back({range, pes, true});
}

void NvshmemPool::release(std::int64_t first) noexcept {
  for (Taken& one : taken_) {
    if (one.held && one.range.first == first) one.held = false;
  }
}

std::vector<OffsetRange> common_ranges(std::span<const std::vector<OffsetRange>> books) {
  if (books.empty()) return {};
  std::vector<OffsetRange> common = books.front();
  for (const std::vector<OffsetRange>& book : books.subspan(1)) {
    std::vector<OffsetRange> both;
    for (const OffsetRange& a : common) {
      for (const OffsetRange& b : book) {
        const std::int64_t first = std::max(a.first, b.first);
        const std::int64_t bytes = std::min(end_of(a), end_of(b)) - first;
        if (bytes > 0) both.push_back({first, bytes});
      }
    }
    common = std::move(both);
  }
  return common;
}

OffsetRange largest_range(std::span<const OffsetRange> ranges) {
  OffsetRange largest;
  for (const OffsetRange& range : ranges) {
    if (range.bytes > largest.bytes) largest = range;
  }
  return largest;
}

}  // namespace partita::memory
