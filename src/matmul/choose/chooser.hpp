// The one place where the algorithm of a multiply is chosen.
#pragma once

#include "matmul/choose/cost.hpp"

namespace partita::multiplication {

/// Whether to use the second instead of the first, which is simpler: if it is cheaper by more than 1 %, or as
/// cheap with clearly fewer bytes between nodes (others may need the network, too).
bool is_worth_it(const Choice& first, const Choice& second);

/// The tiling of `options.method`, or the cheapest of all that fit into the memory limit, with its price; its
/// reason lists the others with theirs. A pure function of what all ranks know: every rank chooses the same.
/// Throws ArgumentError if `options.method` does not suit the operands (`local` if some rank lacks
/// something), LimitRefusal if the memory limit admits no method.
Choice choose(const Problem& problem);

}  // namespace partita::multiplication
