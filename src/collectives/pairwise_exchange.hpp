// Pieces from rank to rank where the two ends have index spaces of their own: a piece is a region here and
// another one of the same extents there.
#pragma once

#include <optional>
#include <vector>

#include "collectives/chain.hpp"

namespace partita::collective {

/// A piece that this rank gives to or takes from `peer`, in the index space of its own side.
struct Piece {
  int peer = 0;
  Region region;
};

/// What a rank gives and takes. The k-th piece that p gives q is the k-th that q takes from p, with the same
/// extents; for what a rank gives to itself likewise.
struct ExchangedPieces {
  std::vector<Piece> given;
  std::vector<Piece> taken;
  std::optional<Reduction> join = {};  ///< of what is taken with what stands there; nothing: in its place
};

/// Appends the step that puts a taken piece into its place.
void append_taken(planning::PlanBuilder& builder, const ExchangedPieces& moves, const Piece& piece,
                  const Place& from, const Place& to, std::vector<int> after = {});

/// Appends the steps that move the pieces from operand `from` to operand `to`: through rings of small buffers
/// that peers of the node read, through messages between nodes. Bounded scratch, whatever the pieces are.
/// `largest`: elements that no piece of any rank exceeds, the same on all ranks.
void append_pairwise_exchange(Chain& chain, int from, int to, const ExchangedPieces& moves,
                              std::int64_t largest);

}  // namespace partita::collective
