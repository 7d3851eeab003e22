// The pieces of a pairwise exchange all given before any is taken, so that the two halves stand apart.
#pragma once

#include <cstddef>
#include <functional>

#include "collectives/pairwise_exchange.hpp"

namespace partita::collective {

/// What other ranks give, by rank: in the order in which they give it.
using GivenBy = std::function<std::vector<Piece>(int rank)>;

/// The shared scratch, in bytes, that a rank needs for what it gives within its node. `space`: of the
/// operands.
std::int64_t posted_bytes(const std::vector<Piece>& given, const Topology& topology, int rank,
                          std::int64_t item, MemorySpace space);

/// Appends the steps that move the pieces from operand `from` to operand `to`, and returns after how many
/// steps of the plan all pieces are sent: earlier steps do not wait, and signal only on the channel `ready`.
/// The scratch holds all pieces: `most_bytes` is the largest `posted_bytes` of any rank.
std::size_t append_posted_exchange(Chain& chain, int from, int to, const ExchangedPieces& moves,
                                   const GivenBy& given_by, std::int64_t most_bytes);

}  // namespace partita::collective
