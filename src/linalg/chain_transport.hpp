// Blocks that pass along lines of ranks, as on the rows and columns of a grid.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "linalg/panel_transport.hpp"

namespace partita::linear {

/// A rank's place in a chain: from which rank it gets the data, and to which it passes it on; -1: none.
struct ChainLink {
  int from = -1;
  int to = -1;
  std::int64_t elements = 0;
};

/// Lines of a grid.
enum class Along : std::uint8_t { row, column };

/// The chain of the ranks of this rank's row or column of the grid that starts at the owner of block `first`,
/// which may be -1, and continues at the owner of the next block, or of the one before if `backward`.
ChainLink chain_link(const Panels& panels, int rank, Along line, int first, std::int64_t elements,
                     bool backward = false);

/// Turns pass, which all ranks know; in each of them data of several kinds passes along one chain of ranks
/// each. A rank has a slot for each kind in this and in the next turn, in shared scratch, in which it finds
/// what has arrived and from which it passes it on: to a rank of the same node by a copy into its slot, to
/// others by messages (the increasing ring of HPL; Petitet, Whaley, Dongarra and Cleary 2018).
///
/// A rank takes part in the chains in the order of turns and kinds. A step waits only for chains before, or
/// for ranks before it in its chain, or for the end of the turn before the previous one, so there is no cycle
/// of waits.
class ChainTransport {
 public:
  /// This rank's link; without elements if it has no part in the chain. All ranks of a chain say the same of
  /// its elements.
  using LinkOf = std::function<ChainLink(int turn, int kind)>;

  /// When receives of messages are posted: as soon as their slots are free, or in the order of their use, by
  /// `post` or `receive`, which suits plans in which the ranks of a chain have other messages, too.
  enum class Posting : std::uint8_t { ahead, in_order };

  /// Adds the scratch. `most`: elements by kind, on any rank.
  ChainTransport(planning::PlanBuilder& builder, Dtype dtype, MemorySpace space,
                 const std::vector<std::int64_t>& most, int turns, LinkOf link,
                 Posting posting = Posting::ahead);

  /// Own memory, packed by columns.
  Place slot(int turn, int kind) const { return slot_of(slots_, rank(), turn, kind); }
  FoundPanel found(int turn, int kind, Region whole) const {
    return {slot(turn, kind), std::move(whole), item_};
  }

  void open();                       ///< before the first turn
  void post(int turn, int kind);     ///< of this turn or of the next one
  void receive(int turn, int kind);  ///< nothing for the first rank of the chain
  void send(int turn, int kind);     ///< nothing for the last
  void end(int turn);                ///< its slots are free
  void close();                      ///< behind the last turn

 private:
  int rank() const { return builder_.rank(); }
  int kinds() const { return static_cast<int>(offsets_.size()); }
  bool by_message(int peer) const { return !builder_.same_node(peer); }
  Place slot_of(int buffer, int rank, int turn, int kind) const;
  void copy(const ChainLink& link, const Place& from, const Place& to);
  int& posted(int turn, int kind) {
    return received_[static_cast<std::size_t>(turn % 2)][static_cast<std::size_t>(kind)];
  }
  void prepare(int turn);

  planning::PlanBuilder& builder_;
  std::int64_t item_;
  int turns_;
  LinkOf link_;
  Posting posting_;
  std::vector<std::int64_t> offsets_;  // by kind, bytes
  std::int64_t turn_bytes_ = 0;        // of all kinds
  int slots_ = -1;
  int messages_ = -1;  // what messages use: the slots on the host, other scratch on devices
  std::array<std::vector<int>, 2> received_;  // by turn modulo 2 and kind: steps; -1: none
  std::array<std::vector<int>, 2> sent_;      // by turn modulo 2: steps
};

}  // namespace partita::linear
