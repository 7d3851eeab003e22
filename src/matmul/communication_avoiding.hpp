// A grid over m, n and k, with the fewest bytes within the memory limit.
#pragma once

#include <vector>

#include "matmul/grid_search.hpp"
#include "matmul/problem.hpp"
#include "matmul/rank_assignment.hpp"
#include "matmul/tiling.hpp"

namespace partita::multiplication {

/// The problem as the search of grids sees it; the scratch is what `memory_limit` leaves.
GridQuestion question_of(const Problem& problem);

/// Each rank multiplies its cell of the grid; see `cuts_of`.
Tiling grid_tiling(const Problem& problem, const Grid& grid, const Assignment& assignment);

/// The `count` grids that move the fewest elements, each with every way of giving its cells to ranks: for the
/// chooser to price. Empty where no grid fits into the memory limit.
std::vector<Tiling> communication_avoiding_tilings(const Problem& problem, int count);

}  // namespace partita::multiplication
