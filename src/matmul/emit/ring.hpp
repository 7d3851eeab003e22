// Sums that go around a ring of devices.
#pragma once

#include <optional>
#include <vector>

#include "matmul/choose/tiling.hpp"

namespace partita::multiplication {

/// Where every rank multiplies its own indices of k for all of D, and sums travel in D's dtype: what a rank
/// holds of D (of a D on all ranks: a slab of it) is summed around the ring, as by the reduce-scatter of
/// Patarasuk and Yuan (Bandwidth optimal all-reduce algorithms, 2009), but that each rank adds what arrives
/// as the C of its product. With P ranks, the rank at distance d from the holder of a part (r - h mod P):
///
///     sum of d = A[.., own k] B[own k, ..] + sum of d - 1
///
/// and the holder, at distance 0, adds the last one to its own product. If transfers take long compared with
/// products, the ranks of a part make several concurrent chains, whose sums the holder adds in passes: as
/// many as other ranks, and all products are sent to their holder at once. Parts go piece by piece: one is
/// in transfer while the next is multiplied. The same on every rank.
struct Ring {
  int pieces = 1;      ///< of each part
  int chains = 1;      ///< to each part
  double seconds = 0;  ///< by the machine's figures
};

/// In which order ranks multiply for the parts of others, the same on all: the first of every chain, then the
/// second of every chain, and so on. So the rank that adds has had the longest time to be notified of it.
class RingSchedule {
 public:
  RingSchedule(int ranks, int chains);

  /// 1 .. P - 1, from the holders of the parts; a rank's own part comes behind them.
  const std::vector<int>& distances() const { return distances_; }
  /// Those whose sums go to the holder, one of each chain, by when they are made.
  const std::vector<int>& ends() const { return ends_; }
  bool begins(int distance) const { return begins_[static_cast<std::size_t>(distance)]; }
  bool ends(int distance) const;

 private:
  std::vector<int> distances_, ends_;
  std::vector<bool> begins_;  // by distance
};

/// Nothing: it does not apply, or products that all go to their holder at once take no longer.
std::optional<Ring> find_ring(const Problem& problem, const std::vector<Tile>& tiles);

/// What of D each rank sums.
Layout layout_summed(const Problem& problem);

/// That piece of a part, lines of its longer side; empty where there are fewer lines than pieces.
Region piece_of(const Region& part, const Ring& ring, int number);

}  // namespace partita::multiplication
