// Shared scratch through which pieces go from rank to rank of a node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "plan/plan_builder.hpp"

namespace partita::planning {

/// Slots in the giver's memory. Both ends know which slot a piece goes through: the taker reads it in place,
/// and says when it has.
class SlotRing {
 public:
  SlotRing(PlanBuilder& builder, int buffer, std::int64_t slots, std::int64_t slot_bytes)
      : builder_(builder), buffer_(buffer), slot_bytes_(slot_bytes), lent_(static_cast<std::size_t>(slots)) {}

  /// Puts this rank's piece into a slot of its own, once that slot's last taker is done with it.
  void give(int taker, std::int64_t slot, Region region, const Place& from, const Extents& order) {
    Lent& lent = lent_[static_cast<std::size_t>(slot)];
    if (lent.taker >= 0) builder_.wait(lent.taker, done, lent.number);
    lent = {taker, ++given_[taker]};
    builder_.copy(builder_.rank(), std::move(region), from, place(builder_.rank(), slot, order));
    builder_.signal(taker, ready);
  }
  /// Waits for the next piece of that giver; where it lies.
  Place take(int giver, std::int64_t slot, const Extents& order) {
    builder_.wait(giver, ready);
    return place(giver, slot, order);
  }
  /// The piece has been taken out of its slot.
  void taken(int giver) { builder_.signal(giver, done); }
  /// Waits until all takers are done.
  void drain() {
    std::map<int, std::int64_t> last;
    for (const Lent& lent : lent_) {
      if (lent.taker >= 0) last[lent.taker] = std::max(last[lent.taker], lent.number);
    }
    for (const auto& [taker, number] : last) builder_.wait(taker, done, number);
  }

 private:
  using enum Channel;
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

}  // namespace partita::planning
