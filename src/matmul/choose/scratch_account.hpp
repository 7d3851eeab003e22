// What a multiply needs of scratch: the one account that the planner, the prices and the memory limit read.
#pragma once

#include <limits>

#include "matmul/choose/tiling.hpp"

namespace partita::multiplication {

inline constexpr std::int64_t product_message_bytes = std::int64_t{1} << 20;  // at most
inline constexpr std::int64_t message_padding = 1024;                         // to cache lines, in total

/// What tiles need of other ranks, over all tiles that were added.
struct Demand {
  bool moves_a = false;        ///< some rank needs of A what another one holds
  bool moves_b = false;        ///< and of B
  bool delivers = false;       ///< some tile reaches beyond what its rank holds of D
  std::int64_t products = 0;   ///< elements of the largest tile of D, where D does not stay
  std::int64_t turn_of_a = 0;  ///< and of a short k-step of A
  std::int64_t turn_of_b = 0;

  void add(const Problem& problem, const Tile& tile, int rank, bool stationary_d);
  /// Of a rank that takes in rows x depth elements of A, depth x columns of B, and sends all its products.
  static Demand of_all(std::int64_t rows, std::int64_t columns, std::int64_t depth, std::int64_t products);
};

/// Whether ranks of the owner's node can pass the operand's memory to BLAS as it is.
bool readable_in_place(const Operand& operand);
/// Whether an operand that moves is copied into shared scratch first, for the ranks of the owner's node.
bool is_published(const Problem& problem, const Operand& operand);
/// Whether D cannot hold the sums meanwhile.
bool sums_apart(const Problem& problem, bool delivers);

/// Bytes of an array, the same on every rank.
std::int64_t array_bytes(const Operand& operand);

/// Bytes of scratch of the rank that needs most, at least:
///     |I| |J|                           its products, of the compute dtype, where they belong to other ranks
///     6 (|I| + |J|) min(|K|, 32)        a short k-step of A and B in transfer between nodes: twice received,
///                                       twice sent, and room for the messages of products
///     parts of A and B                  where neighbours cannot read the caller's own memory
///     part of D                         of the compute dtype, where D cannot hold the sums
///     arrays and staging                of what is redistributed before and after the multiply
std::int64_t least_scratch(const Problem& problem, const Demand& demand, bool stationary_d);
/// Of all tiles. If that is more than `enough`, another number that is more than `enough`, found sooner.
std::int64_t least_scratch(const Problem& problem, const Tiling& tiling,
                           std::int64_t enough = std::numeric_limits<std::int64_t>::max());

}  // namespace partita::multiplication
