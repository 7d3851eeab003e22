#include "memory/free_list.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"
#include "memory/page.hpp"

namespace partita::memory {

FreeList::FreeList(std::int64_t capacity) {
  const std::int64_t whole = round_down(capacity, page_bytes);
  if (whole > 0) add_free(0, whole);
}

void FreeList::add_free(std::int64_t offset, std::int64_t bytes) {
  if (bytes == 0) return;
  free_.emplace(offset, bytes);
  free_by_size_.emplace(bytes, offset);
}

void FreeList::remove_free(std::int64_t offset, std::int64_t bytes) {
  free_.erase(offset);
  free_by_size_.erase({bytes, offset});
}

std::optional<std::int64_t> FreeList::allocate(std::int64_t bytes) {
  // Sizes near 2^63 must not wrap when they are rounded.
  if (bytes > largest()) return std::nullopt;
  const std::int64_t size = round_up(std::max<std::int64_t>(bytes, 1), page_bytes);
  const std::int64_t alignment = size >= huge_page_bytes ? huge_page_bytes : page_bytes;
  for (auto part = free_by_size_.lower_bound({size, 0}); part != free_by_size_.end(); ++part) {
    const auto [part_bytes, part_offset] = *part;
    const std::int64_t offset = round_up(part_offset, alignment);
    const std::int64_t rest = part_offset + part_bytes - (offset + size);
    if (rest < 0) continue;
    remove_free(part_offset, part_bytes);
    add_free(part_offset, offset - part_offset);
    add_free(offset + size, rest);
    used_.emplace(offset, size);
    used_bytes_ += size;
    return offset;
  }
  return std::nullopt;
}

void FreeList::release(std::int64_t offset) {
  const auto block = used_.find(offset);
  invariant(block != used_.end(), "there is no block at offset {}", offset);
  std::int64_t first = offset;
  std::int64_t bytes = block->second;
  used_bytes_ -= bytes;
  used_.erase(block);

  const auto after = free_.lower_bound(offset);
  if (after != free_.end() && after->first == offset + bytes) {
    const auto [after_offset, after_bytes] = *after;
    bytes += after_bytes;
    remove_free(after_offset, after_bytes);
  }
  const auto next = free_.lower_bound(offset);
  if (next != free_.begin()) {
    const auto [before_offset, before_bytes] = *std::prev(next);
    if (before_offset + before_bytes == offset) {
      first = before_offset;
      bytes += before_bytes;
      remove_free(before_offset, before_bytes);
    }
  }
  add_free(first, bytes);
}

std::int64_t FreeList::largest() const {
  std::int64_t result = 0;
  // Alignment may cost a part up to 2 MiB, so a smaller part can hold a larger block.
  for (auto part = free_by_size_.rbegin(); part != free_by_size_.rend(); ++part) {
    const auto [bytes, offset] = *part;
    if (bytes <= result) break;
    const std::int64_t aligned = offset + bytes - round_up(offset, huge_page_bytes);
    const std::int64_t small = std::min(bytes, huge_page_bytes - page_bytes);
    result = std::max({result, aligned >= huge_page_bytes ? aligned : 0, small});
  }
  return result;
}

std::int64_t FreeList::extent() const {
  return used_.empty() ? 0 : used_.rbegin()->first + used_.rbegin()->second;
}

}  // namespace partita::memory
