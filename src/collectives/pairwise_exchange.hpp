// Pieces from rank to rank if the two ends have different index spaces: a piece is a region on one side and
// another one of the same extents on the other.
#pragma once

#include <optional>
#include <vector>

#include "collectives/chain.hpp"
#include "plan/transfers.hpp"

namespace partita::collective {

/// A piece that this rank sends to or receives from `peer`, in the index space of its side.
struct Piece {
  int peer = 0;
  Region region;
};

/// The pieces that a rank sends and receives. Piece k from p to q is the k-th that q receives from p, with
/// the same extents; the same holds for pieces of a rank to itself.
struct ExchangedPieces {
  std::vector<Piece> given;
  std::vector<Piece> taken;
  std::optional<Reduction> join = {};  ///< of what is taken with what stands there; nothing: in its place
};

/// Transfers of pieces from operand to operand; `keep` through scratch of this rank, since the two ends
/// differ.
struct PieceEnds {
  PieceEnds(const planning::PlanBuilder& builder, int from_buffer, int to_buffer,
            const std::optional<Reduction>& joined);

  planning::Transfer transfer(planning::TransferEnd end, int peer, Region region) const {
    return {.end = end, .peer = peer, .region = std::move(region), .from = from, .to = to, .reduction = join};
  }
  planning::Transfer packed(Region region, const Place& at) const {
    return {.peer = from.rank, .region = std::move(region), .from = from, .to = at};
  }
  /// `end`: keep or read.
  planning::Transfer unpacked(planning::TransferEnd end, int owner, Region region, const Place& at) const {
    return {.end = end, .peer = owner, .region = std::move(region), .from = at, .to = to, .reduction = join};
  }

  Place from, to;  ///< this rank's
  std::optional<Reduction> join;
  std::int64_t item_bytes;
  Extents order;  ///< of what is packed
};

/// Appends the steps that move the pieces from operand `from` to operand `to`: through rings of small buffers
/// that peers of the node read, through messages between nodes. Bounded scratch, whatever the pieces are.
/// `largest`: elements that no piece of any rank exceeds, the same on all ranks.
void append_pairwise_exchange(Chain& chain, int from, int to, const ExchangedPieces& moves,
                              std::int64_t largest);

}  // namespace partita::collective
