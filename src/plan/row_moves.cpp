#include "plan/row_moves.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace partita::planning {

RowMoves::RowMoves(std::size_t most) {
  front_.reserve(most);
  below_.reserve(most);
  moves_.reserve(2 * most);
  some_.reserve(2 * most);
}

/// All rows are where they were.
void RowMoves::list_places(std::span<const std::int32_t> rows) {
  front_.resize(rows.size());
  std::iota(front_.begin(), front_.end(), std::int64_t{0});
  below_.clear();
  for (const std::int32_t row : rows) {
    if (row >= std::ssize(rows)) below_.emplace_back(row, row);
  }
  std::ranges::sort(below_);
  below_.erase(std::unique(below_.begin(), below_.end()), below_.end());
}

std::int64_t& RowMoves::found(std::int64_t row) {
  if (row < std::ssize(front_)) return front_[static_cast<std::size_t>(row)];
  return std::ranges::lower_bound(below_, row, {}, &Place::first)->second;
}

// A chosen row of the front may have been exchanged before; then it is where the row is that took its place.
void RowMoves::make_pivots(std::span<std::int32_t> rows) {
  list_places(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::int64_t at = rows[i];
    while (found(at) != rows[i]) at = found(at);
    invariant(at >= std::ssize(rows) || at >= static_cast<std::int64_t>(i), "row {} was chosen twice",
              rows[i]);
    std::swap(front_[i], found(at));
    rows[i] = static_cast<std::int32_t>(at);
  }
}

void RowMoves::find(std::span<const std::int32_t> pivots, std::int64_t first) {
  list_places(pivots);
  for (std::size_t i = 0; i < pivots.size(); ++i) std::swap(front_[i], found(pivots[i]));
  moves_.clear();
  for (std::size_t i = 0; i < front_.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    if (front_[i] != row) moves_.push_back({first + front_[i], first + row});
  }
  for (const auto& [row, has] : below_) {
    if (has != row) moves_.push_back({first + has, first + row});
  }
}

const std::vector<RowMove>& RowMoves::between(const IndexSet& from, const IndexSet& to) {
  some_.clear();
  std::ranges::copy_if(moves_, std::back_inserter(some_),
                       [&](const RowMove& move) { return from.contains(move.from) && to.contains(move.to); });
  return some_;
}

}  // namespace partita::planning
