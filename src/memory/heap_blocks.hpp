// The blocks of a symmetric heap as one rank knows them, and who has dropped which.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace partita::memory {

/// One block. The id is the same on all ranks: allocation is collective, so all ranks count alike.
struct HeapBlock {
  std::uint64_t id = 0;
  std::int64_t offset = 0;  ///< from the start of every rank's segment
  std::int64_t bytes = 0;   ///< as asked (the largest of all ranks)
};

/// Ids count upwards with every allocation, so a block has the same id on all ranks. Local; `drop` may be
/// called by any thread, all else by the context's.
class HeapBlocks {
 public:
  explicit HeapBlocks(int ranks) : ranks_(ranks) {}

  HeapBlock add(std::int64_t offset, std::int64_t bytes, std::string_view purpose, std::string place);
  /// Removes the block; its offset is then free.
  std::int64_t remove(std::uint64_t id);

  void drop(std::uint64_t id) noexcept;
  /// The blocks that this rank has dropped but not yet reported to other ranks.
  const std::vector<std::uint64_t>& unreported_drops();
  /// Marks them as reported.
  void note_told() { unreported_.clear(); }
  /// Takes the ids that each rank has reported now; returns the ids that all ranks have dropped, in
  /// increasing order.
  std::vector<std::uint64_t> report_drops(std::span<const std::vector<std::uint64_t>> by_rank);

  /// The id of the live block that begins at `offset`. Throws MemoryError that says what is there instead.
  std::uint64_t find(std::int64_t offset);
  /// Whether `offset` is inside a live block.
  bool contains(std::int64_t offset) const;
  /// "1048576 bytes at file.cpp:42 (purpose)".
  std::string describe(std::uint64_t id) const;
  /// All blocks that this rank has not dropped, one line each, the oldest first.
  std::string describe_live();

 private:
  struct Block {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    std::string purpose;
    std::string place;
    bool dropped = false;    // here
    int dropping_ranks = 0;  // that have said so
  };
  void take_drops();

  int ranks_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Block> blocks_;
  std::map<std::int64_t, std::uint64_t> by_offset_;
  std::set<std::int64_t> freed_;  // offsets of freed blocks, until they are reused
  std::vector<std::uint64_t> unreported_;
  std::mutex mutex_;
  std::vector<std::uint64_t> drops_;  // under the mutex, until `take_drops`
};

}  // namespace partita::memory
