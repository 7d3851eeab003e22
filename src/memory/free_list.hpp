// Which parts of a range of offsets are free. Pure: the same calls give the same offsets on every rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace partita::memory {

/// Best fit (the smallest free part that holds the block, the lowest offset among equals; Knuth, The Art of
/// Computer Programming, volume 1, 2.5), neighbours coalesced on release. Blocks are multiples of 4 KiB;
/// blocks of 2 MiB and more begin at a multiple of 2 MiB, so that huge pages can carry them.
class FreeList {
 public:
  explicit FreeList(std::int64_t capacity);

  /// The offset of a block of `bytes` (0 is as good as 1); nothing: no free part is large enough.
  std::optional<std::int64_t> allocate(std::int64_t bytes);
  /// Gives the block that begins at `offset` back. Throws Error (a defect of ours) when none begins there.
  void release(std::int64_t offset);

  std::int64_t used_bytes() const { return used_bytes_; }
  /// The largest block that could be had now.
  std::int64_t largest() const;
  /// The end of the last block in use.
  std::int64_t extent() const;

 private:
  void add_free(std::int64_t offset, std::int64_t bytes);
  void remove_free(std::int64_t offset, std::int64_t bytes);

  std::map<std::int64_t, std::int64_t> free_;                     // offset -> bytes, no two adjacent
  std::set<std::pair<std::int64_t, std::int64_t>> free_by_size_;  // {bytes, offset}, the same parts
  std::map<std::int64_t, std::int64_t> used_;                     // offset -> bytes
  std::int64_t used_bytes_ = 0;
};

}  // namespace partita::memory
