// The one place where the algorithm of a multiply is chosen.
#pragma once

#include "matmul/tiling.hpp"

namespace partita::multiplication {

/// A tiling beside its price.
struct Choice {
  Tiling tiling;
  double seconds = 0;
  double network_bytes = 0;  ///< into one rank
};

/// Whether to take the second for the first, which is simpler: where it is cheaper by more than one in a
/// hundred, or as cheap with clearly fewer bytes between nodes (others may need the network, too).
bool is_worth_it(const Choice& first, const Choice& second);

/// The tiling of `options.method`, or the cheapest of all that fit, with its price by the cost model; its
/// reason names the others with theirs. A pure function of what all ranks know alike: every rank chooses the
/// same. Throws ArgumentError where `options.method` does not suit the operands (`local` where some rank
/// lacks something), or where the memory limit admits no method.
Choice choose(const Problem& problem);

}  // namespace partita::multiplication
