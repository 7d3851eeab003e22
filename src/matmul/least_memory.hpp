// The scratch that a tiling cannot do without.
#pragma once

#include "matmul/problem.hpp"
#include "matmul/tiling.hpp"

namespace partita::multiplication {

/// Whether ranks of the owner's node can hand the operand's memory to BLAS as it lies.
bool readable_in_place(const Problem& problem, const Operand& operand);

/// Whether the tiling multiplies into D itself: what a rank makes is complete, its own, and of D's dtype.
bool multiplies_into_d(const Problem& problem, const Tiling& tiling);

/// Bytes of scratch of the rank that needs most, at least: its sums, where they are not made in D itself,
///     |I| |J|  of the compute dtype,
/// and one shortest round of what of A and B does not lie where BLAS can read it,
///     (|I| + |J|) min(|K|, 32)  of the operands' dtype.
std::int64_t least_scratch(const Problem& problem, const Tiling& tiling);

}  // namespace partita::multiplication
