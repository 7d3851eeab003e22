#include "plan/slot_ring.hpp"

#include <algorithm>
#include <utility>

namespace partita {

using enum Channel;

void SlotRing::give(int taker, std::int64_t slot, Region region, const Place& from, const Extents& order) {
  Lent& lent = lent_[static_cast<std::size_t>(slot)];
  if (lent.taker >= 0) builder_.wait(lent.taker, done, lent.number);
  lent = {taker, ++given_[taker]};
  builder_.copy(builder_.rank(), std::move(region), from, place(builder_.rank(), slot, order));
  builder_.signal(taker, ready);
}

Place SlotRing::take(int giver, std::int64_t slot, const Extents& order) {
  builder_.wait(giver, ready);
  return place(giver, slot, order);
}

void SlotRing::taken(int giver) {
  builder_.signal(giver, done);
}

void SlotRing::drain() {
  std::map<int, std::int64_t> last;
  for (const Lent& lent : lent_) {
    if (lent.taker >= 0) last[lent.taker] = std::max(last[lent.taker], lent.number);
  }
  for (const auto& [taker, number] : last) builder_.wait(taker, done, number);
}

}  // namespace partita
