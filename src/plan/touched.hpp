// Which bytes the steps of a plan read and write.
#pragma once

#include <cstdint>
#include <map>
#include <partita/plan.hpp>
#include <utility>
#include <vector>

namespace partita::planning {

/// Of memory in rows of `row` bytes from its start on, bytes [first, last) of each row; all, where `row` is
/// 0.
struct Columns {
  std::int64_t row = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool meet(const Columns& other) const {
    return row == 0 || row != other.row || (first < other.last && other.first < last);
  }
  bool operator==(const Columns&) const = default;
};

/// Bytes [first, last) of a buffer's memory (see `memory_of`) on a rank.
struct MemoryRange {
  int buffer = -1;
  int rank = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool shared = false;   ///< of this rank, where peers may come, too
  Columns columns = {};  ///< of them, only these
};

/// Of an array, all bytes from the first to the last that a step uses, but for columns that it leaves out
/// along the fastest dimension that it does not take whole; of one that is not dense, all.
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
  struct Stripe {
    Columns columns;
    Pieces pieces;
  };
  using Stripes = std::vector<Stripe>;  // few; what one has lost to another it still names
  static void cut(Pieces& pieces, std::int64_t at);
  static Pieces& pieces_of(Stripes& stripes, const Columns& columns);

  std::map<std::pair<int, int>, Stripes> buffers_;  // by buffer and rank
};

}  // namespace partita::planning
