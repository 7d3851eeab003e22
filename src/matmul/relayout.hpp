// What surrounds a multiply: arrays that lie otherwise than it needs them, and the scratch that this takes.
#pragma once

#include <partita/redistribute.hpp>

#include "matmul/problem.hpp"

namespace partita::multiplication {

/// As `operand`, in scratch that the node shares.
Operand in_scratch(const Operand& operand, Layout layout);

bool lies_as(const Operand& operand, const Layout& layout);

/// One holder an element, contiguous parts: cut along the longest of the dimensions from `first` on.
Layout slabs(const Layout& layout, int first);

/// How arrays are redistributed inside the plan: with little staging where memory is limited.
RedistributeOptions redistribution_within(const Problem& problem);

/// Bytes of scratch of one redistribution, the same on every rank.
std::int64_t staging_bytes(const Problem& problem, const Operand& from, const Operand& to);

}  // namespace partita::multiplication
