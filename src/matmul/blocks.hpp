// A tile cut into blocks, each of which has one owner in A, one in B and one holder in D.
#pragma once

#include <vector>

#include "matmul/frame.hpp"
#include "matmul/partition.hpp"

namespace partita::multiplication {

/// Block (b, i, j, t) is D[batches[b], rows[i], columns[j]] += A[batches[b], rows[i], turns[t]]
/// B[batches[b], turns[t], columns[j]]. A pure function of frame and rank, so that a peer knows it too.
struct Blocks {
  std::vector<std::vector<IndexSet>> batches;  ///< a set a leading dimension
  Partition rows;
  Partition columns;
  /// Pieces of k in the order in which the rank takes them: its own first where it owns A's and B's alike,
  /// and skewed as in Cannon's algorithm, so that not all ask the same owner at the same time.
  std::vector<IndexSet> turns;
  /// The products lie one behind the other in scratch, the rank's own among them, so that one multiply makes
  /// several: where they would be so thin that BLAS spent its time on packing the same operand again and
  /// again.
  bool joined = false;
};
Blocks blocks_of(const Frame& frame, int rank);

/// A piece of A or B that a rank needs, and who gives it.
struct Piece {
  Region region;
  int owner = 0;
};
/// Of A: one a batch and row piece (of one batch where A has none): number b * rows + i. Of B likewise.
std::vector<Piece> pieces_of_a(const Frame& frame, const Blocks& blocks, int rank, std::size_t turn);
std::vector<Piece> pieces_of_b(const Frame& frame, const Blocks& blocks, int rank, std::size_t turn);

/// A piece of a rank's tile in D.
struct Product {
  Region region;
  int holder = 0;         ///< the rank that sums it up
  std::size_t batch = 0;  ///< numbers in Blocks
  std::size_t row = 0;
  std::size_t column = 0;
  std::int64_t offset = -1;  ///< bytes, in the rank's `products`; of none: the rank adds it up in place

  bool in_place() const { return offset < 0; }
};
/// All, ordered by front.
std::vector<Product> products_of(const Frame& frame, const Blocks& blocks, int rank);

/// Cuts a packed region into packed pieces that stay in cache, each after the other in memory.
std::vector<Region> in_cache(const Frame& frame, const Region& region, Dtype dtype);

}  // namespace partita::multiplication
