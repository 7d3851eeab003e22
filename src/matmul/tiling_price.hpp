// What a tiling would cost: a closed formula of the tiles and layouts of a few ranks, no plan is made.
#pragma once

#include <optional>
#include <vector>

#include "matmul/problem.hpp"
#include "matmul/tiling.hpp"

namespace partita::multiplication {

/// Elements of one operand that a rank works on, by where they lie.
struct Share {
  double own = 0;
  double near = 0;  ///< with other ranks of its node
  double far = 0;   ///< on other nodes
  double all() const { return own + near + far; }
};

/// Of the slowest rank that was looked at.
struct TilingPrice {
  double seconds = 0;
  double multiply_seconds = 0;
  double received = 0;       ///< elements that arrive from other ranks
  double network_bytes = 0;  ///< of those that come from other nodes
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
  struct Holds {
    int rank = 0;
    Region a, b, d;
  };
  struct Sample {
    Holds self;
    double sharers = 1;        ///< ranks of its node
    std::vector<Holds> mates;  ///< some of the other ranks of its node
    double mates_weight = 1;   ///< how many each of them stands for
  };

  Holds held_by(int rank) const;
  struct Transfer;
  struct Pieces {
    double m, n, k;
  };
  Pieces pieces_of(const Region& a, const Region& b, const Region& d) const;
  Share share(const Sample& sample, Region Holds::*operand, const Region& wanted, double copies) const;
  Transfer take_in(const Operand& operand, const Share& share) const;
  Transfer give_away(const Share& share) const;
  TilingPrice price(const Tiling& tiling, const Sample& sample) const;

  Problem problem_;
  std::vector<Sample> samples_;
  double replicas_of_d_ = 1;
};

/// The regions of A and B that a tile needs, and of D that it adds to.
Region needed_of_a(const Problem& problem, const Tile& tile);
Region needed_of_b(const Problem& problem, const Tile& tile);
Region product_of(const Problem& problem, const Tile& tile);

}  // namespace partita::multiplication
