// Shared scratch through which pieces go from rank to rank of a node.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "plan/plan_builder.hpp"

namespace partita {

/// Slots in the giver's memory. Both ends know which slot a piece goes through: the taker reads it in place,
/// and says when it has.
class SlotRing {
 public:
  SlotRing(PlanBuilder& builder, int buffer, std::int64_t slots, std::int64_t slot_bytes)
      : builder_(builder), buffer_(buffer), slot_bytes_(slot_bytes), lent_(static_cast<std::size_t>(slots)) {}

  /// Puts this rank's piece into a slot of its own, once that slot's last taker is done with it.
  void give(int taker, std::int64_t slot, Region region, const Place& from, const Extents& order);
  /// Waits for the next piece of that giver; where it lies.
  Place take(int giver, std::int64_t slot, const Extents& order);
  /// The piece has been taken out of its slot.
  void taken(int giver);
  /// Waits until all takers are done.
  void drain();

 private:
  struct Lent {
    int taker = -1;
    std::int64_t number = 0;  // of the taker's signal that says that the slot is free again
  };
  Place place(int giver, std::int64_t slot, const Extents& order) const {
    return {buffer_, giver, slot * slot_bytes_, order};
  }

  PlanBuilder& builder_;
  int buffer_;
  std::int64_t slot_bytes_;
  std::vector<Lent> lent_;
  std::map<int, std::int64_t> given_;  // pieces, by taker
};

}  // namespace partita
