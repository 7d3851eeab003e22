// The pairwise exchange: in round d a rank gives to the rank d places after it and takes from the one d
// places before it, piece by piece. Every piece has a key (d, k, part of its handling), the same at both
// ends, and every rank goes by increasing key. A step waits only for steps of smaller keys at other ranks:
//
//   (d, k, 0)  post the message of the k-th piece that is taken (other node)
//   (d, k, 1)  pack and give the k-th piece; its slot must be free: the slot's last user has a smaller key
//   (d, k, 2)  take the k-th piece; what came as a message may be unpacked later, since nobody waits for that
//
// so the rank at the smallest key of all can always go on: no deadlock, whatever is moved.
#include "collectives/moves.hpp"

#include <algorithm>
#include <array>
#include <deque>

#include "plan/channels.hpp"
#include "plan/steps.hpp"
#include "redistribute/split.hpp"

namespace partita::collective {
namespace {

constexpr std::int64_t largest_slot = 256 << 10;
constexpr std::int64_t slots = 8;  // of a ring: 2 MiB stay in a core's cache
constexpr std::int64_t line = 64;

constexpr int ready = static_cast<int>(Channel::ready);
constexpr int done = static_cast<int>(Channel::done);

using ByPeer = std::vector<std::vector<Region>>;

/// The pieces by peer, cut so that each fits a slot: by its extents alone, so alike at both ends.
ByPeer cut(const std::vector<Piece>& pieces, int ranks, std::int64_t most, const Extents& order) {
  ByPeer result(static_cast<std::size_t>(ranks));
  for (const Piece& piece : pieces) {
    for (Region& part : redistribution::split(piece.region, most, order, order)) {
      result[static_cast<std::size_t>(piece.peer)].push_back(std::move(part));
    }
  }
  return result;
}

class Mover {
 public:
  Mover(Chain& chain, int from, int to, const Moves& moves, std::int64_t largest)
      : plan_(chain.plan()), from_(from), to_(to), ranks_(plan_.topology.ranks()) {
    const Operand& source = *plan_.buffers[static_cast<std::size_t>(from)].operand;
    item_ = size_of(source.dtype);
    order_ = source.axis_order;
    const std::int64_t wanted = (std::max<std::int64_t>(largest, 1) * item_ + line - 1) / line * line;
    slot_ = std::min(wanted, largest_slot);
    given_ = cut(moves.given, ranks_, slot_ / item_, order_);
    taken_ = cut(moves.taken, ranks_, slot_ / item_, order_);
    const bool shares_node = plan_.topology.node_count() < ranks_;
    ring_ = chain.add_scratch("ring", BufferKind::shared, shares_node ? slots * slot_ : 0);
    messages_ = chain.add_scratch("messages", BufferKind::scratch, needs_private() ? 2 * slots * slot_ : 0);
  }

  void run() {
    move_own();
    for (int distance = 1; distance < ranks_; ++distance) round(distance);
    settle();
  }

 private:
  bool near(int peer) const { return plan_.topology.same_node(plan_.rank, peer); }
  const std::vector<Region>& given(int peer) const { return given_[static_cast<std::size_t>(peer)]; }
  const std::vector<Region>& taken(int peer) const { return taken_[static_cast<std::size_t>(peer)]; }

  bool needs_private() const {
    for (int peer = 0; peer < ranks_; ++peer) {
      const bool some = !given(peer).empty() || !taken(peer).empty();
      if (some && (peer == plan_.rank || !near(peer))) return true;
    }
    return false;
  }

  Place here(int buffer, std::int64_t offset = 0) const { return {buffer, plan_.rank, offset, order_}; }
  int copy(int owner, const Region& region, const Place& from, const Place& to, std::vector<int> after = {}) {
    return push(plan_.steps, copy_step(owner, region, from, to, std::move(after)));
  }

  // What stays on the rank goes through the private scratch.
  void move_own() {
    for (std::size_t k = 0; k < given(plan_.rank).size(); ++k) {
      copy(plan_.rank, given(plan_.rank)[k], here(from_), here(messages_));
      copy(plan_.rank, taken(plan_.rank)[k], here(messages_), here(to_));
    }
  }

  void round(int distance) {
    const int taker = (plan_.rank + distance) % ranks_;
    const int giver = (plan_.rank - distance + ranks_) % ranks_;
    const std::size_t pieces = std::max(given(taker).size(), taken(giver).size());
    for (std::size_t k = 0; k < pieces; ++k) {
      const bool gives = k < given(taker).size();
      const bool takes = k < taken(giver).size();
      if (takes && !near(giver)) post(giver, taken(giver)[k]);
      if (gives && near(taker)) produce(taker, distance, k);
      if (gives && !near(taker)) send(taker, given(taker)[k]);
      if (takes && near(giver)) consume(giver, distance, k);
    }
  }

  // --- inside a node: a ring of slots in the giver's shared scratch; both ends know which is whose turn

  std::int64_t slot_of(int distance, std::size_t piece) const {
    return (distance + static_cast<std::int64_t>(piece)) % slots;
  }

  void produce(int taker, int distance, std::size_t k) {
    const std::int64_t slot = slot_of(distance, k);
    free_slot(slot);
    lent_[static_cast<std::size_t>(slot)] = {taker, static_cast<std::int64_t>(k) + 1};
    copy(plan_.rank, given(taker)[k], here(from_), here(ring_, slot * slot_));
    push(plan_.steps, signal_step(taker, ready));
  }

  void consume(int giver, int distance, std::size_t k) {
    push(plan_.steps, wait_step(giver, ready, static_cast<std::int64_t>(k) + 1));
    copy(giver, taken(giver)[k], {ring_, giver, slot_of(distance, k) * slot_, order_}, here(to_));
    push(plan_.steps, signal_step(giver, done));
  }

  void free_slot(std::int64_t slot) {
    Lent& lent = lent_[static_cast<std::size_t>(slot)];
    if (lent.taker >= 0) push(plan_.steps, wait_step(lent.taker, done, lent.count));
    lent = {};
  }

  // --- between nodes: what is sent lies in the first half of the private scratch, what comes in the second

  void send(int taker, const Region& region) {
    std::vector<int> after;
    if (sent_.size() == static_cast<std::size_t>(slots)) {
      after.push_back(sent_.front());
      sent_.pop_front();
    }
    const Place slot = here(messages_, next_sent_++ % slots * slot_);
    copy(plan_.rank, region, here(from_), slot, std::move(after));
    sent_.push_back(push(plan_.steps, send_step(taker, slot, region.size() * item_)));
  }

  void post(int giver, const Region& region) {
    if (posted_.size() == static_cast<std::size_t>(slots)) unpack();
    const Place slot = here(messages_, (slots + next_posted_++ % slots) * slot_);
    posted_.push_back(
        {giver, region, slot, push(plan_.steps, receive_step(giver, slot, region.size() * item_))});
  }

  void unpack() {
    const Posted& oldest = posted_.front();
    copy(oldest.giver, oldest.region, oldest.slot, here(to_), {oldest.step});
    posted_.pop_front();
  }

  // The call is over when all has come and the peers have finished with this rank's slots.
  void settle() {
    while (!posted_.empty()) unpack();
    for (std::int64_t slot = 0; slot < slots; ++slot) free_slot(slot);
    Step finish;
    finish.kind = StepKind::finish;
    finish.after.assign(sent_.begin(), sent_.end());
    if (!finish.after.empty()) push(plan_.steps, std::move(finish));
  }

  struct Lent {
    int taker = -1;
    std::int64_t count = 0;  // of its signals that say that the slot is free again
  };
  struct Posted {
    int giver;
    Region region;
    Place slot;
    int step;
  };

  Plan& plan_;
  int from_;
  int to_;
  int ranks_;
  std::int64_t item_ = 1;
  std::int64_t slot_ = line;  // bytes
  Extents order_;
  ByPeer given_;
  ByPeer taken_;
  int ring_ = -1;
  int messages_ = -1;
  std::array<Lent, static_cast<std::size_t>(slots)> lent_;
  std::deque<int> sent_;  // steps of messages that may be under way
  std::deque<Posted> posted_;
  std::int64_t next_sent_ = 0;
  std::int64_t next_posted_ = 0;
};

}  // namespace

void append_moves(Chain& chain, int from, int to, const Moves& moves, std::int64_t largest) {
  Mover(chain, from, to, moves, largest).run();
}

}  // namespace partita::collective
