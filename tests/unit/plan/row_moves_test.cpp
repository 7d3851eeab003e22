// Rows that exchanges move, against exchanges of a list of rows.
#include "plan/row_moves.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "support/test.hpp"

namespace partita::testing {
namespace {

/// What rows there are after the exchanges of rows i and pivots[i].
std::vector<std::int64_t> after_exchanges(std::int64_t rows, const std::vector<std::int32_t>& pivots) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = 0; i < pivots.size(); ++i)
    std::swap(order[i], order[static_cast<std::size_t>(pivots[i])]);
  return order;
}

TEST(RowMoves, BringChosenRowsToTheFront) {
  std::mt19937_64 random(1);
  for (int repetition = 0; repetition < 500; ++repetition) {
    const std::int64_t rows = std::uniform_int_distribution<std::int64_t>(1, 30)(random);
    const std::int64_t count = std::uniform_int_distribution<std::int64_t>(1, rows)(random);
    const std::int64_t first = std::uniform_int_distribution<std::int64_t>(0, 9)(random);
    std::vector<std::int32_t> chosen(static_cast<std::size_t>(rows));
    std::iota(chosen.begin(), chosen.end(), 0);
    std::shuffle(chosen.begin(), chosen.end(), random);
    chosen.resize(static_cast<std::size_t>(count));
    std::vector<std::int32_t> pivots = chosen;
    planning::RowMoves moves(pivots.size());
    moves.make_pivots(pivots);
    const std::vector<std::int64_t> order = after_exchanges(rows, pivots);
    EXPECT_TRUE(std::equal(chosen.begin(), chosen.end(), order.begin()));
    for (std::int64_t i = 0; i < count; ++i) EXPECT_GE(pivots[static_cast<std::size_t>(i)], i);
    moves.find(pivots, first);
    const IndexSet all = IndexSet::range(first, first + rows), some = IndexSet::cyclic(0, 2, 5, first + rows);
    std::vector<std::int64_t> moved(static_cast<std::size_t>(rows));
    std::iota(moved.begin(), moved.end(), std::int64_t{0});
    for (const auto& [from, to] : moves.between(all, all))
      moved[static_cast<std::size_t>(to - first)] = from - first;
    EXPECT_EQ(moved, order);
    std::int64_t last = -1;
    for (const auto& [from, to] : moves.between(some, all)) {
      EXPECT_TRUE(some.contains(from) && to > last);
      last = to;
    }
  }
}

}  // namespace
}  // namespace partita::testing
