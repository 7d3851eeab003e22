// How the panels of a factorized matrix reach the ranks that read them.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "linalg/panels.hpp"
#include "plan/plan_builder.hpp"

namespace partita::linear {

/// Where this rank reads a panel: in an array of factors, or packed by columns.
class FoundPanel {
 public:
  /// In an array.
  explicit FoundPanel(const Place& place) : place_(place) {}
  /// Packed: all of `whole`.
  FoundPanel(const Place& place, Region whole, std::int64_t item)
      : place_(place), whole_(std::move(whole)), item_(item) {}

  Part part(const IndexSet& rows, const IndexSet& columns) const;

 private:
  Place place_;
  Region whole_ = {};      // of what is packed
  std::int64_t item_ = 0;  // bytes; 0: not packed
};

/// Rows of a panel that all ranks read at one time.
struct PanelTurn {
  int panel = 0;
  IndexSet rows;
};

/// Panels pass in turns, which all ranks know. Every rank takes the panel of every turn in order, and so has
/// its pivots and status. It finds a panel of
///   - a rank of the same node, in host memory: in place;
///   - a rank of the same node, on devices: in one of two slots, into which the owner has put it;
///   - a rank of another node: in a message that travels along the ring of ranks, from the owner on and
///   without
///     those of the owner's node. Each rank receives it once and sends it once (the increasing ring of HPL;
///     Petitet, Whaley, Dongarra and Cleary 2018).
/// A rank that takes the panel of turn t has released that of turn t - 1.
///
/// A step waits only for steps of earlier turns, or of its turn on ranks before it in the ring, so there is
/// no cycle of waits.
class PanelTransport {
 public:
  /// When panels exist: each when its owner announces it, or all from the start of the plan.
  enum class Readiness { by_turn, from_start };

  /// Adds the scratch. `readers`: on one node only ranks below take panels of others.
  PanelTransport(const FactorBuffers& buffers, planning::PlanBuilder& builder, std::vector<PanelTurn> turns,
                 Readiness readiness, int readers = std::numeric_limits<int>::max());

  /// Before the first turn, when what `from_start` says holds.
  void open();
  /// By the owner of the turn's panel, which has taken those of all turns before; it may still hold the last
  /// of them.
  void announce(int turn);
  /// Whether this rank takes panels. A rank that does not announces its turns one after the other.
  bool reads() const { return rank() < readers_; }
  bool announces(int turn) const { return turn < turns() && owner(turn) == rank(); }
  FoundPanel take(int turn);  ///< by all ranks that read; the owner has announced it
  void release(int turn);     ///< this rank does not read the panel any more
  /// Behind the last turn: no peer reads this rank's panels any more.
  void close();

 private:
  int panel(int turn) const { return turns_[static_cast<std::size_t>(turn)].panel; }
  int owner(int turn) const { return buffers_.panels.owner(panel(turn)); }
  int turns() const { return static_cast<int>(turns_.size()); }
  int rank() const { return builder_.rank(); }
  bool is_mine(int turn) const { return owner(turn) == rank(); }
  bool arrives_by_message(int turn) const { return !builder_.same_node(owner(turn)); }
  bool puts() const { return buffers_.space == MemorySpace::device; }
  bool owns_a_turn() const;
  Region region(int turn) const;

  int following(int turn) const;
  int preceding(int turn) const;
  std::int64_t message_bytes(int turn) const;
  template <class Visit>
  void for_each_piece(int turn, const Visit& visit) const;
  Place slot(int buffer, int rank, int turn) const;
  FoundPanel packed(int buffer, int turn) const;

  void grant(int turn);
  void put(int turn);
  void post(int turn);
  void send(int turn);
  void finish_send(int turn);
  void unpack(int turn);
  void copy_from_owner(int turn);

  const FactorBuffers& buffers_;
  planning::PlanBuilder& builder_;
  std::vector<PanelTurn> turns_;
  Readiness readiness_;
  int readers_;
  std::vector<int> peers_;           // of the node, that read
  std::int64_t slot_bytes_ = 0;      // of the largest message: a panel with its pivots and status
  int slots_ = -1;                   // shared scratch: on devices
  int messages_ = -1;                // private scratch: two, of what is received and sent
  int received_ = -1;                // step: the message of the next turn
  std::array<int, 2> sent_{-1, -1};  // steps, by slot: not waited for
  std::set<int> read_;               // owners whose memory was read in place
};

}  // namespace partita::linear
