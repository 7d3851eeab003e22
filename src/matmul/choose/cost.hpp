// What a tiling costs: a closed formula of the tiles and layouts of a few ranks, no plan is made.
#pragma once

#include <functional>

#include "matmul/choose/tiling.hpp"

namespace partita::multiplication {

/// A tiling with its price: that of the slowest rank that was examined.
struct Choice {
  Tiling tiling;
  double seconds = 0;
  double network_bytes = 0;  ///< received from other nodes, or sent there
};

/// Prices tilings of one problem. With I, J, K the sets of a rank's tile:
///
///     multiply   (2 |I||J||K| flops) / flops, and what BLAS packs: |I||K| + |K||J| + 2 |I||J| elements
///     receive    A[I,K] and B[K,J] that it does not own: from its own node read in place (almost free) if
///                they are dense and on the heap, else copied; from other nodes the network, one packing and
///                one message latency per owner
///     send       the part of D[I,J] that it does not own, one sum to be added per element
///
/// The network overlaps with multiplying, except for the first and last pieces. The memory and the network of
/// a node are shared evenly by its ranks.
///
/// On devices nothing is packed and nothing is read in place: all data received or sent is copied over the
/// rank's link, and that overlaps, too; products take at least as long as reading their factors, and sums of
/// others are added afterwards. Stripes and rings have their own formulas.
/// Thread-safe; `problem` must outlive it.
using Pricer = std::function<Choice(Tiling)>;
Pricer pricer_of(const Problem& problem);

/// Of an operand before the multiply, or of D after it: all of it is packed, sent and unpacked.
double seconds_to_redistribute(const Problem& problem, const Operand& operand);

}  // namespace partita::multiplication
