#include "memory/heap_blocks.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"

namespace partita::memory {

HeapBlock HeapBlocks::add(std::int64_t offset, std::int64_t bytes, std::string_view purpose,
                          std::string place) {
  const std::uint64_t id = next_id_++;
  blocks_.emplace(id, Block{offset, bytes, std::string(purpose), std::move(place)});
  by_offset_.emplace(offset, id);
  const std::int64_t end = offset + std::max<std::int64_t>(bytes, 1);
  freed_.erase(freed_.lower_bound(offset), freed_.lower_bound(end));
  return {id, offset, bytes};
}

std::int64_t HeapBlocks::remove(std::uint64_t id) {
  const auto block = blocks_.find(id);
  invariant(block != blocks_.end(), "block {} is not in the heap", id);
  const std::int64_t offset = block->second.offset;
  by_offset_.erase(offset);
  blocks_.erase(block);
  freed_.insert(offset);
  return offset;
}

void HeapBlocks::drop(std::uint64_t id) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    drops_.push_back(id);
  } catch (...) {
    // Without memory to note it, the block stays until the heap is freed.
  }
}

void HeapBlocks::take_drops() {
  std::vector<std::uint64_t> drops;
  {
    const std::lock_guard lock(mutex_);
    drops.swap(drops_);
  }
  for (const std::uint64_t id : drops) {
    const auto block = blocks_.find(id);
    if (block == blocks_.end() || block->second.dropped) continue;
    block->second.dropped = true;
    unreported_.push_back(id);
  }
}

const std::vector<std::uint64_t>& HeapBlocks::unreported_drops() {
  take_drops();
  return unreported_;
}

std::vector<std::uint64_t> HeapBlocks::report_drops(std::span<const std::vector<std::uint64_t>> by_rank) {
  std::vector<std::uint64_t> dead;
  for (const auto& ids : by_rank) {
    for (const std::uint64_t id : ids) {
      const auto block = blocks_.find(id);
      if (block != blocks_.end() && ++block->second.dropping_ranks == ranks_) dead.push_back(id);
    }
  }
  std::sort(dead.begin(), dead.end());
  return dead;
}

std::uint64_t HeapBlocks::find(std::int64_t offset) {
  take_drops();
  const auto found = by_offset_.find(offset);
  if (found != by_offset_.end()) {
    check<MemoryError>(!blocks_.at(found->second).dropped, "the owner of the block ({}) has been destroyed",
                       describe(found->second));
    return found->second;
  }
  check<MemoryError>(!freed_.contains(offset), "the block has already been freed (double free)");
  check<MemoryError>(!contains(offset), "the pointer is not the start of its block");
  throw MemoryError(
      "the pointer is not in a block of the symmetric heap (already freed, or never allocated)");
}

bool HeapBlocks::contains(std::int64_t offset) const {
  const auto after = by_offset_.upper_bound(offset);
  if (after == by_offset_.begin()) return false;
  const Block& block = blocks_.at(std::prev(after)->second);
  return !block.dropped && offset < block.offset + std::max<std::int64_t>(block.bytes, 1);
}

std::string HeapBlocks::describe(std::uint64_t id) const {
  const Block& block = blocks_.at(id);
  const std::string purpose = block.purpose.empty() ? "" : fmt::format(" ({})", block.purpose);
  return fmt::format("{} bytes at {}{}", block.bytes, block.place, purpose);
}

std::string HeapBlocks::describe_live() {
  take_drops();
  std::string result;
  for (const auto& [id, block] : blocks_) {
    if (block.dropped || block.purpose.empty()) continue;  // without a purpose: the context's own
    if (!result.empty()) result += '\n';
    result += describe(id);
  }
  return result;
}

}  // namespace partita::memory
