// The scratch that a tiling cannot do without.
#pragma once

#include <limits>

#include "matmul/problem.hpp"
#include "matmul/tiling.hpp"

namespace partita::multiplication {

/// Whether ranks of the owner's node can hand the operand's memory to BLAS as it lies.
bool readable_in_place(const Operand& operand);

/// Bytes of scratch of the rank that needs most, at least:
///     |I| |J|                           its products, of the compute dtype, where they belong to other ranks
///     6 (|I| + |J|) min(|K|, 32)        a short turn of A and B on their way between nodes: twice arriving,
///     twice
///                                       leaving, and room for the messages of products
///     parts of A and B                  where neighbours cannot read the caller's own memory
///     part of D                         of the compute dtype, where D cannot hold the sums
///     arrays and staging                of what is redistributed before and after the multiply
/// Where that is more than `enough`, something that is more than `enough`, too, but is found sooner.
std::int64_t least_scratch(const Problem& problem, const Tiling& tiling,
                           std::int64_t enough = std::numeric_limits<std::int64_t>::max());

/// The last three of these and what little there is besides, for a tiling that moves A, B and products.
std::int64_t fixed_scratch(const Problem& problem);

/// The factor of |I| + |J| in the second one; 0 inside a node.
std::int64_t round_scratch(const Problem& problem);

/// Bytes of products on their way, at most; 0 inside a node.
std::int64_t piece_scratch(const Problem& problem);

}  // namespace partita::multiplication
