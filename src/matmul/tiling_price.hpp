// What a tiling would cost: a closed formula of the tiles and layouts of a few ranks, no plan is made.
#pragma once

#include <vector>

#include "matmul/tiling.hpp"

namespace partita::multiplication {

/// Of the slowest rank that was looked at.
struct TilingPrice {
  double seconds = 0;
  double network_bytes = 0;  ///< that come in from other nodes, or go there
};

/// A rank that is looked at.
struct SampledRank {
  int rank = 0;
  double sharers = 1;       ///< ranks of its node
  std::vector<int> mates;   ///< some of the other ranks of its node
  double mates_weight = 1;  ///< how many each of them stands for
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
/// network of a node are shared evenly by its ranks. Thread-safe.
class TilingPricer {
 public:
  explicit TilingPricer(const Problem& problem);
  TilingPrice price(const Tiling& tiling) const;

 private:
  TilingPrice price(const Tiling& tiling, const SampledRank& sample) const;

  Problem problem_;
  std::vector<SampledRank> samples_;
  double replicas_of_d_ = 1;
};

}  // namespace partita::multiplication
