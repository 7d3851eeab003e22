#include "matmul/communication_avoiding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "distribution/cut.hpp"
#include "matmul/tilings.hpp"

namespace partita::multiplication {
namespace {

constexpr double rather_uneven = 1.1;          // a grid of fewer ranks, if its price is right
constexpr int most_ranks_for_homes = 1 << 16;  // beyond, looking at every rank costs more than it saves

using distribution::Cut;

/// What a tile is computed from; shared by all copies of the tiling.
struct Cells {
  Grid grid;
  Shape leading;  ///< extents of the leading dimensions
  int cut_batch = -1;
  Cut batch, m, n, k;
  std::vector<int> of_rank;

  Tile tile(int rank) const {
    Tile tile;
    tile.batch.resize(static_cast<std::size_t>(leading.size()));
    const int cell = of_rank[static_cast<std::size_t>(rank)];
    if (cell < 0) return tile;
    const Coordinates at = coordinates_of(grid, cell);
    for (int i = 0; i < leading.size(); ++i) {
      tile.batch[static_cast<std::size_t>(i)] =
          i == cut_batch ? batch.set(at.batch) : IndexSet::range(0, leading[i]);
    }
    tile.m = m.set(at.m);
    tile.n = n.set(at.n);
    tile.k = k.set(at.k);
    return tile;
  }
};

/// Whether every rank's tile is what it alone holds of D.
bool is_what_each_holds(const Problem& problem, const Cells& cells) {
  if (cells.grid.k > 1 || problem.d.layout.is_replicated() || problem.d.layout.partial()) return false;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Tile tile = cells.tile(rank);
    const Holding held = holding(problem, problem.d, rank);
    const bool nothing = tile.empty() && problem.d.layout.local_size(rank) == 0;
    if (!nothing && !(tile.batch == held.batch && tile.m == held.rows && tile.n == held.columns))
      return false;
  }
  return true;
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
  question.batched_a = problem.batched_a();
  question.batched_b = problem.batched_b();
  question.ranks = problem.ranks();
  question.scratch = problem.options.memory_limit == 0
                         ? 0
                         : std::max<std::int64_t>(1, problem.options.memory_limit / size_of(problem.compute));
  return question;
}

Tiling grid_tiling(const Problem& problem, const Grid& grid, const Assignment& assignment) {
  const GridQuestion question = question_of(problem);
  const auto cells = std::make_shared<Cells>();
  cells->grid = grid;
  for (int i = 0; i < problem.batches(); ++i) cells->leading.push_back(problem.d.layout.shape()[i]);
  cells->cut_batch = cut_batch(problem);
  cells->batch = Cut::balanced(question.batch, grid.batch);
  cells->m = Cut::balanced(question.m, grid.m);
  cells->n = Cut::balanced(question.n, grid.n);
  cells->k = Cut::balanced(question.k, grid.k);
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

std::vector<Tiling> communication_avoiding_tilings(const Problem& problem, int count) {
  const GridQuestion question = question_of(problem);
  const int ranks = problem.ranks();
  const OperandPlaces places = ranks > most_ranks_for_homes ? OperandPlaces{} : places_of(problem);
  std::vector<Grid> grids = best_grids(question, count);
  for (const Grid& grid : best_grids(question, 1, rather_uneven)) {
    if (std::find(grids.begin(), grids.end(), grid) == grids.end()) grids.push_back(grid);
  }
  std::vector<Tiling> tilings;
  for (const Grid& grid : grids) {
    std::vector<Assignment> assignments = orders(grid, ranks);
    if (ranks <= most_ranks_for_homes) {
      std::vector<Assignment> more = homes(grid, question, places);
      std::move(more.begin(), more.end(), std::back_inserter(assignments));
    }
    for (const Assignment& assignment : assignments) {
      tilings.push_back(grid_tiling(problem, grid, assignment));
    }
  }
  return tilings;
}

}  // namespace partita::multiplication
