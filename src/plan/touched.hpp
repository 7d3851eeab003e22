// Which bytes the steps of a plan read and write.
#pragma once

#include <cstdint>
#include <map>
#include <partita/plan.hpp>
#include <utility>
#include <vector>

namespace partita::planning {

/// Bytes [first, last) of a buffer's memory (see `memory_of`) on a rank.
struct MemoryRange {
  int buffer = -1;
  int rank = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool shared = false;  ///< of this rank, where peers may come, too
};

/// Of an array, all bytes from the first to the last that a step uses; of one that is not dense, all.
struct Touched {
  std::vector<MemoryRange> read;
  std::vector<MemoryRange> written;  ///< or updated
};

/// By step, of copies and works, and of messages where they are on this rank.
std::vector<Touched> touched_by_steps(const Plan& plan);

/// The same where operands share memory: all of them count as one piece.
void join_operands(const Plan& plan, std::vector<Touched>& touched);

/// Which step has touched memory last.
class LastTouch {
 public:
  void touch(const MemoryRange& range, int step);
  int last(const MemoryRange& range) const;  ///< the largest of its steps; -1: none

 private:
  struct Piece {
    std::int64_t last = 0;
    int step = -1;
  };
  using Pieces = std::map<std::int64_t, Piece>;  // by their first byte; apart from each other
  static void cut(Pieces& pieces, std::int64_t at);

  std::map<std::pair<int, int>, Pieces> buffers_;  // by buffer and rank
};

}  // namespace partita::planning
