// The one place where the algorithm of a multiply is chosen.
#pragma once

#include <vector>

#include "matmul/choose/grid_search.hpp"
#include "matmul/choose/tiling_price.hpp"

namespace partita::multiplication {

/// The problem as the search of grids sees it; the scratch is what `memory_limit` leaves.
GridQuestion question_of(const Problem& problem);

/// The `count` grids that move the fewest elements, each with every way of giving its cells to ranks: for the
/// chooser to price. Empty where no grid fits into the memory limit.
std::vector<Tiling> communication_avoiding_tilings(const Problem& problem, int count);

/// Whether to take the second for the first, which is simpler: where it is cheaper by more than one in a
/// hundred, or as cheap with clearly fewer bytes between nodes (others may need the network, too).
bool is_worth_it(const Choice& first, const Choice& second);

/// The tiling of `options.method`, or the cheapest of all that fit, with its price by the cost model; its
/// reason names the others with theirs. A pure function of what all ranks know alike: every rank chooses the
/// same. Throws ArgumentError where `options.method` does not suit the operands (`local` where some rank
/// lacks something), or where the memory limit admits no method.
Choice choose(const Problem& problem);

}  // namespace partita::multiplication
