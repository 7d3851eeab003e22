// Rows that the exchanges of a panel move.
#pragma once

#include <cstdint>
#include <partita/index_set.hpp>
#include <span>
#include <utility>
#include <vector>

namespace partita::planning {

struct RowMove {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// The outcome of at most `most` exchanges. Functions after the constructor allocate nothing.
class RowMoves {
 public:
  explicit RowMoves(std::size_t most);

  /// Replaces the numbers of rows, counted from the first row of a panel, by the pivots whose exchanges i and
  /// pivots[i] bring them to the front.
  void make_pivots(std::span<std::int32_t> rows);
  /// What exchanges of rows first + i and first + pivots[i] move; pivots[i] >= i.
  void find(std::span<const std::int32_t> pivots, std::int64_t first);
  /// Those from one set of rows to another, in the order of the rows that they go to; valid until the next
  /// call.
  const std::vector<RowMove>& between(const IndexSet& from, const IndexSet& to);

 private:
  using Place = std::pair<std::int64_t, std::int64_t>;  // a row below the front, and a row of the panel

  void list_places(std::span<const std::int32_t> rows);
  std::int64_t& found(std::int64_t row);

  std::vector<std::int64_t> front_;  // by row of the front: the row that it has
  std::vector<Place> below_;         // by increasing row: the row that it has
  std::vector<RowMove> moves_, some_;
};

}  // namespace partita::planning
