#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/round.hpp"
#include "matmul/choose/chooser.hpp"
#include "matmul/choose/rank_assignment.hpp"
#include "matmul/choose/scratch_account.hpp"

namespace partita::multiplication {
namespace {

constexpr double rather_uneven = 1.1;  // a grid of fewer ranks, if its price is right

std::vector<IndexSet> sets_of(const distribution::Cut& cut) {
  std::vector<IndexSet> parts;
  for (std::int64_t i = 0; i < cut.parts; ++i) parts.push_back(cut.set(i));
  return parts;
}

/// What a tile is computed from; shared by all copies of the tiling.
struct Cells {
  Grid grid;
  Shape leading;  ///< extents of the leading dimensions
  int cut_batch = -1;
  std::array<std::vector<IndexSet>, 4> parts;  ///< along batch, m, n and k
  std::vector<int> of_rank;

  Tile tile(int rank) const {
    Tile tile;
    tile.batch.resize(static_cast<std::size_t>(leading.size()));
    const int cell = of_rank[static_cast<std::size_t>(rank)];
    if (cell < 0) return tile;
    const Coordinates at = coordinates_of(grid, cell);
    const auto part = [&](std::size_t i) { return parts[i][static_cast<std::size_t>(at[i])]; };
    for (int i = 0; i < leading.size(); ++i) {
      tile.batch[static_cast<std::size_t>(i)] = i == cut_batch ? part(0) : IndexSet::range(0, leading[i]);
    }
    return {std::move(tile.batch), part(1), part(2), part(3)};
  }
};

/// Whether every rank's tile is what it alone holds of D.
bool is_what_each_holds(const Problem& problem, const Cells& cells) {
  if (cells.grid.k > 1 || problem.d.layout.is_replicated() || problem.d.layout.partial()) return false;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Tile tile = cells.tile(rank);
    const OwnedSets held = holding(problem, problem.d, rank);
    const bool nothing = tile.empty() && problem.d.held.by(rank).empty();
    if (!nothing && !(tile.batch == held.batch && tile.m == held.rows && tile.n == held.columns)) {
      return false;
    }
  }
  return true;
}

/// Into how many parts the ranks cut the dimension.
std::int64_t parts_along(const Operand& operand, int dimension) {
  const std::int64_t extent = operand.layout.shape()[dimension];
  for (int rank = 0; rank < operand.layout.ranks(); ++rank) {
    const std::int64_t held = operand.layout.local_shape(rank)[dimension];
    if (held > 0) return ceil_divide(extent, held);
  }
  return 1;
}

std::vector<Grid> grids_of(const Problem& problem, const GridQuestion& question, int count) {
  const GridSearch search(question, rather_uneven);
  std::vector<Grid> grids = search.best(count);
  const auto add = [&](const std::vector<Grid>& more) {
    for (const Grid& grid : more) {
      if (std::find(grids.begin(), grids.end(), grid) == grids.end()) grids.push_back(grid);
    }
  };
  add(search.best(1, rather_uneven));
  const int d = problem.batches();
  add(search.best_aligned({1, parts_along(problem.d, d), parts_along(problem.d, d + 1),
                           parts_along(problem.a, problem.a.batched() ? d + 1 : 1)}));
  return grids;
}

/// Each rank multiplies its cell of the grid; see `cuts_of`.
Tiling grid_tiling(const Problem& problem, const Grid& grid, const Assignment& assignment) {
  const auto cells = std::make_shared<Cells>();
  cells->grid = grid;
  for (int i = 0; i < problem.batches(); ++i) cells->leading.push_back(problem.d.layout.shape()[i]);
  cells->cut_batch = cut_batch(problem);
  const GridCuts cuts = cuts_of(problem, grid);
  std::ranges::transform(cuts, cells->parts.begin(), sets_of);
  cells->of_rank = assignment.cells;
  Tiling tiling;
  tiling.method = MatmulMethod::communication_avoiding;
  tiling.name = "communication-avoiding " + grid.to_string();
  tiling.reason = fmt::format("a grid of {} over m, n and k moves the fewest bytes, ranks in {}",
                              grid.to_string(), assignment.name);
  tiling.tile = [cells](int rank) { return cells->tile(rank); };
  tiling.stationary_d = is_what_each_holds(problem, *cells);
  return tiling;
}

}  // namespace

GridQuestion question_of(const Problem& problem) {
  GridQuestion question;
  const int cut = cut_batch(problem);
  for (int i = 0; i < problem.batches(); ++i) {
    (i == cut ? question.batch : question.planes) *= problem.d.layout.shape()[i];
  }
  question.m = problem.m();
  question.n = problem.n();
  question.k = problem.k();
  question.batched_a = problem.a.batched();
  question.batched_b = problem.b.batched();
  question.ranks = problem.ranks();
  question.round = round_scratch(problem);
  question.piece = piece_scratch(problem) / size_of(problem.compute);
  const std::int64_t limit = problem.options.memory_limit;
  if (limit > 0) {
    question.scratch = std::max<std::int64_t>(1, (limit - fixed_scratch(problem)) / size_of(problem.compute));
  }
  return question;
}

std::vector<Tiling> communication_avoiding_tilings(const Problem& problem, int count) {
  const std::vector<Grid> grids = grids_of(problem, question_of(problem), count);
  const auto ways = assignments(problem, grids);
  std::vector<Tiling> tilings;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    for (const Assignment& way : ways[i]) tilings.push_back(grid_tiling(problem, grids[i], way));
  }
  return tilings;
}

}  // namespace partita::multiplication
