// What a tiling would cost: a closed formula of the tiles and layouts of a few ranks, no plan is made.
#pragma once

#include <functional>

#include "matmul/choose/tiling.hpp"

namespace partita::multiplication {

/// A tiling beside its price: that of the slowest rank that was looked at.
struct Choice {
  Tiling tiling;
  double seconds = 0;
  double network_bytes = 0;  ///< that come in from other nodes, or go there
};

/// Prices tilings of one problem. With I, J, K the sets of a rank's tile:
///
///     multiply    (2 |I||J||K| flops) / flops, and what BLAS packs: |I||K| + |K||J| + 2 |I||J| elements
///     take in     A[I,K] and B[K,J] that it does not own: from its own node read in place (almost free)
///     where they
///                 lie dense on the heap, else copied; from other nodes the network, one packing and one
///                 message latency a giver
///     give away   the part of D[I,J] that it does not own, one sum to be joined an element
///
/// Multiplying and the network run at the same time, but for the first and last pieces. The memory and the
/// network of a node are shared evenly by its ranks.
///
/// On devices nothing is packed and nothing is read in place: what is taken in or given away is copied over
/// the rank's link beside the products, which take at least as long as their factors take to be read.
/// Thread-safe; `problem` must outlive it.
using TilingPricer = std::function<Choice(Tiling)>;
TilingPricer pricer_of(const Problem& problem);

}  // namespace partita::multiplication
