// The pairwise exchange: in round d a rank gives to the rank d places after it and takes from the one d
// places before it, piece by piece. Every piece has a key (d, k, part of its handling), the same at both
// ends, and every rank goes by increasing key. A step waits only for steps of smaller keys at other ranks:
//
//   (d, k, 0)  post the message of the k-th piece that is taken (other node)
//   (d, k, 1)  pack and give the k-th piece; its slot must be free: the slot's last user has a smaller key
//   (d, k, 2)  take the k-th piece; what came as a message may be unpacked later, since nobody waits for that
//
// so the rank at the smallest key of all can always go on: no deadlock, whatever is moved.
#include "collectives/pairwise_exchange.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/round.hpp"
#include "base/units.hpp"
#include "plan/message_window.hpp"
#include "plan/slot_ring.hpp"
#include "redistribute/split.hpp"

namespace partita::collective {
namespace {

constexpr std::int64_t largest_slot = 256 << 10;
constexpr std::int64_t largest_of_group = 8 << 20;  // what a group costs is little beside so much
constexpr std::int64_t slots = 8;                   // of a ring: 2 MiB stay in a core's cache
constexpr std::int64_t slots_of_groups = 2;         // one is packed or unpacked while the other travels
constexpr std::int64_t most_pieces = std::int64_t{1} << 20;  // of a round's number

using ByPeer = std::vector<std::vector<Region>>;

/// The pieces by peer, cut so that each fits a slot, and the rank's own ones all of the scratch, `most_own`:
/// by its extents alone, so alike at both ends.
ByPeer cut(const std::vector<Piece>& pieces, int ranks, std::int64_t most, int own, std::int64_t most_own,
           const Extents& order) {
  ByPeer result(static_cast<std::size_t>(ranks));
  for (const Piece& piece : pieces) {
    const std::int64_t largest = piece.peer == own ? most_own : most;
    for (Region& part : redistribution::split(piece.region, largest, order, order)) {
      result[static_cast<std::size_t>(piece.peer)].push_back(std::move(part));
    }
  }
  return result;
}

class PairwiseExchange {
 public:
  PairwiseExchange(planning::PlanBuilder& builder, int from, int to, const ExchangedPieces& moves,
                   std::int64_t largest)
      : builder_(builder), moves_(moves), from_(from), to_(to), ranks_(builder.plan().topology.ranks()) {
    const Operand& source = builder.operand(from);
    item_ = size_of(source.dtype);
    order_ = source.axis_order;
    const std::int64_t wanted = round_up(std::max<std::int64_t>(largest, 1) * item_, cache_line);
    const bool grouped = builder.plan().grouped;
    const std::int64_t slot = std::min(wanted, grouped ? largest_of_group : largest_slot);
    const bool shares_node = !grouped && builder.plan().topology.node_count() < ranks_;
    const std::int64_t window = (grouped ? slots_of_groups : slots) * slot;
    const std::int64_t most = slot / item_, most_own = 2 * window / item_;
    given_ = cut(moves.given, ranks_, most, builder.rank(), most_own, order_);
    taken_ = cut(moves.taken, ranks_, most, builder.rank(), most_own, order_);
    const int ring = builder.add_scratch("ring", BufferKind::shared, shares_node ? window : 0);
    rounds_ = builder.new_rounds();
    messages_ = builder.add_scratch("messages", BufferKind::scratch, needs_private() ? 2 * window : 0);
    ring_.emplace(builder, ring, slots, slot);
    sending_.emplace(builder, messages_, 0, window);
    receiving_.emplace(builder, messages_, window, window);
  }

  void run() {
    move_own();
    for (int distance = 1; distance < ranks_; ++distance) round(distance);
    settle();
  }

 private:
  bool near(int peer) const { return !builder_.plan().grouped && builder_.same_node(peer); }
  const std::vector<Region>& given(int peer) const { return given_[static_cast<std::size_t>(peer)]; }
  const std::vector<Region>& taken(int peer) const { return taken_[static_cast<std::size_t>(peer)]; }

  bool needs_private() const {
    for (int peer = 0; peer < ranks_; ++peer) {
      const bool some = !given(peer).empty() || !taken(peer).empty();
      if (some && (peer == builder_.rank() || !near(peer))) return true;
    }
    return false;
  }

  // What stays on the rank goes through the private scratch.
  void move_own() {
    const int rank = builder_.rank();
    const Place between{messages_, rank, 0, order_};
    for (std::size_t k = 0; k < given(rank).size(); ++k) {
      builder_.copy(rank, given(rank)[k], here(from_), between);
      append_taken(builder_, moves_, {rank, taken(rank)[k]}, between, here(to_));
    }
  }

  void round(int distance) {
    const int taker = (builder_.rank() + distance) % ranks_;
    const int giver = (builder_.rank() - distance + ranks_) % ranks_;
    const std::size_t pieces = std::max(given(taker).size(), taken(giver).size());
    for (std::size_t k = 0; k < pieces; ++k) {
      const bool gives = k < given(taker).size();
      const bool takes = k < taken(giver).size();
      const std::int64_t slot = (distance + static_cast<std::int64_t>(k)) % slots;
      const std::int64_t number = rounds_ + distance * most_pieces + static_cast<std::int64_t>(k);
      if (takes && !near(giver)) post(giver, taken(giver)[k], number);
      if (gives && near(taker)) ring_->give(taker, slot, given(taker)[k], here(from_), order_);
      if (gives && !near(taker)) send(taker, given(taker)[k], number);
      if (takes && near(giver)) consume(giver, slot, taken(giver)[k]);
    }
  }

  Place here(int buffer) const { return {buffer, builder_.rank(), 0, order_}; }
  std::int64_t bytes(const Region& region) const { return region.size() * item_; }

  void consume(int giver, std::int64_t slot, const Region& region) {
    append_taken(builder_, moves_, {giver, region}, ring_->take(giver, slot, order_), here(to_));
    ring_->taken(giver);
  }

  void send(int taker, const Region& region, std::int64_t round) {
    sending_->send(taker, region, here(from_), order_, bytes(region), round);
  }

  void post(int giver, const Region& region, std::int64_t round) {
    while (!receiving_->fits(bytes(region))) unpack();
    posted_.push_back({giver, region, receiving_->receive(giver, order_, bytes(region), round)});
  }

  void unpack() {
    const Posted& oldest = posted_.front();
    append_taken(builder_, moves_, {oldest.giver, oldest.region}, oldest.message.place, here(to_),
                 {oldest.message.step});
    receiving_->pop();
    posted_.pop_front();
  }

  // The call is over when all has come and the peers have finished with this rank's slots.
  void settle() {
    while (!posted_.empty()) unpack();
    ring_->drain();
    builder_.finish(sending_->unfinished());
  }

  struct Posted {
    int giver;
    Region region;
    planning::ReceiveWindow::Message message;
  };

  planning::PlanBuilder& builder_;
  const ExchangedPieces& moves_;
  int from_;
  int to_;
  int ranks_;
  std::int64_t item_ = 1;
  Extents order_;
  ByPeer given_;
  ByPeer taken_;
  int messages_ = -1;
  std::int64_t rounds_ = 0;  // the first number of this exchange's
  std::optional<planning::SlotRing> ring_;
  std::optional<planning::SendWindow> sending_;  // the first half of the private scratch
  std::optional<planning::ReceiveWindow> receiving_;
  std::deque<Posted> posted_;
};

}  // namespace

void append_taken(planning::PlanBuilder& builder, const ExchangedPieces& moves, const Piece& piece,
                  const Place& from, const Place& to, std::vector<int> after) {
  if (moves.join) {
    builder.accumulate(piece.peer, *moves.join, piece.region, from, to, std::move(after));
  } else {
    builder.copy(piece.peer, piece.region, from, to, std::move(after));
  }
}

void append_pairwise_exchange(Chain& chain, int from, int to, const ExchangedPieces& moves,
                              std::int64_t largest) {
  PairwiseExchange(chain.builder(), from, to, moves, largest).run();
}

}  // namespace partita::collective
