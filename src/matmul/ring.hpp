// Sums that go around a ring of devices.
#pragma once

#include <optional>
#include <vector>

#include "matmul/tiling.hpp"

namespace partita::multiplication {

/// Where every rank multiplies its own indices of k for all of D, and sums travel in D's dtype: what a rank
/// holds of D (of a D on all ranks: a slab of it) is summed around the ring, as by the reduce-scatter of
/// Patarasuk and Yuan (Bandwidth optimal all-reduce algorithms, 2009), but that each rank adds what arrives
/// as the C of its product. Parts go piece by piece, so that one is on its way while the next is multiplied.
/// With P ranks, rank r at step s = 0 .. P - 1:
///
///     D[part of r - 1 - s] = A[.., own k] B[own k, ..] + what rank r - 1 has made of it at step s - 1
///
/// and at the last one that is its own part. The same on every rank.
struct Ring {
  int pieces = 1;      ///< of each part
  double seconds = 0;  ///< by the machine's figures
};

/// Nothing: it does not apply, or products that all go to their holder at once take no longer.
std::optional<Ring> find_ring(const Problem& problem, const std::vector<Tile>& tiles);

/// What of D each rank sums.
Layout layout_summed(const Problem& problem);

/// Whose part the rank multiplies at that step, the last one its own.
int holder_at(int rank, int step, int ranks);

/// That piece of a part, lines of its longer side; empty where there are fewer lines than pieces.
Region piece_of(const Region& part, const Ring& ring, int number);

}  // namespace partita::multiplication
