// The pairwise exchange: in round d a rank gives to the rank d places after it and takes from the one d
// places before it, piece by piece. Every piece has a key (d, k, part of its handling), the same at both
// ends, and every rank proceeds by increasing key. A step waits only for steps of smaller keys elsewhere:
//
//   (d, k, 0)  post the message of the k-th piece that is taken (other node)
//   (d, k, 1)  pack and give the k-th piece; its slot must be free: the slot's last user has a smaller key
//   (d, k, 2)  take the k-th piece; a received message may be unpacked later, since no rank waits for that
//
// so there is no deadlock, whatever is moved (planning::TransferWriter).
#include "collectives/pairwise_exchange.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/round.hpp"
#include "base/units.hpp"
#include "redistribute/split.hpp"

namespace partita::collective {
namespace {

constexpr std::int64_t largest_slot = 256 << 10;
constexpr std::int64_t largest_of_group = 8 << 20;  // what a group costs is little compared with this
constexpr std::int64_t slots = 8;                   // of a ring: 2 MiB stay in a core's cache
constexpr std::int64_t slots_of_groups = 2;         // one is packed or unpacked while the other travels
constexpr std::int64_t most_pieces = std::int64_t{1} << 20;  // of a round's number

using planning::TransferEnd;

class PairwiseExchange {
 public:
  PairwiseExchange(planning::PlanBuilder& builder, int from, int to, const ExchangedPieces& moves,
                   std::int64_t largest)
      : builder_(builder),
        ends_(builder, from, to, moves.join),
        moves_(moves),
        ranks_(builder.plan().topology.ranks()),
        scratch_{ends_.order, ends_.item_bytes} {
    const bool grouped = builder.plan().grouped;
    const bool shares_node = !grouped && builder.plan().topology.node_count() < ranks_;
    const std::int64_t wanted = round_up(std::max<std::int64_t>(largest, 1) * ends_.item_bytes, cache_line);
    const std::int64_t slot = std::min(wanted, grouped ? largest_of_group : largest_slot);
    const std::int64_t window = (grouped ? slots_of_groups : slots) * slot;
    scratch_.ring = builder.add_scratch("ring", BufferKind::shared, shares_node ? window : 0);
    scratch_.slots = slots;
    scratch_.slot_bytes = slot;
    scratch_.messages =
        builder.add_scratch("messages", BufferKind::scratch, needs_private() ? 2 * window : 0);
    scratch_.send_bytes = scratch_.receive_bytes = window;
  }

  void run() {
    list(moves_.given, true);
    list(moves_.taken, false);
    std::vector<planning::Transfer> list = planning::sorted_by_key(std::move(transfers_));
    planning::TransferWriter writer(builder_, scratch_);
    writer.expect(list);
    writer.write(std::move(list));
    writer.close();
  }

 private:
  bool near(int peer) const { return !builder_.plan().grouped && builder_.same_node(peer); }

  bool needs_private() const {
    const auto is_private = [&](const Piece& piece) {
      return !piece.region.empty() && (piece.peer == builder_.rank() || !near(piece.peer));
    };
    return std::ranges::any_of(moves_.given, is_private) || std::ranges::any_of(moves_.taken, is_private);
  }

  TransferEnd end_at(int peer, bool gives) const {
    if (peer == builder_.rank()) return TransferEnd::keep;
    if (near(peer)) return gives ? TransferEnd::lend : TransferEnd::borrow;
    return gives ? TransferEnd::send : TransferEnd::post;
  }

  // Cut so that each piece fits a slot, and the rank's own ones all of the private scratch: by extents alone,
  // so alike at both ends.
  void list(const std::vector<Piece>& pieces, bool gives) {
    std::map<int, std::int64_t> numbers;  // by peer
    for (const Piece& piece : pieces) {
      const TransferEnd end = end_at(piece.peer, gives);
      const std::int64_t most = end == TransferEnd::keep ? 2 * scratch_.send_bytes : scratch_.slot_bytes;
      const int ahead = gives ? piece.peer - builder_.rank() : builder_.rank() - piece.peer;
      for (Region& region :
           redistribution::split(piece.region, most / ends_.item_bytes, ends_.order, ends_.order)) {
        list(end, gives, piece.peer, std::move(region), (ahead + ranks_) % ranks_, numbers[piece.peer]++);
      }
    }
  }

  void list(TransferEnd end, bool gives, int peer, Region region, std::int64_t distance, std::int64_t k) {
    const Place between{scratch_.messages, builder_.rank(), 0, ends_.order};
    planning::Transfer transfer = end != TransferEnd::keep ? ends_.transfer(end, peer, std::move(region))
                                  : gives                  ? ends_.packed(std::move(region), between)
                                          : ends_.unpacked(end, peer, std::move(region), between);
    transfer.slot = (distance + k) % slots;
    transfer.round = rounds_ + distance * most_pieces + k;
    const std::int64_t part = end == TransferEnd::post ? 0 : gives ? 1 : 2;
    transfers_.push_back({{distance, k, part}, std::move(transfer)});
  }

  planning::PlanBuilder& builder_;
  PieceEnds ends_;
  const ExchangedPieces& moves_;
  int ranks_;
  planning::TransferScratch scratch_;
  std::int64_t rounds_ = builder_.new_rounds();  // the first number of this exchange's
  std::vector<planning::KeyedTransfer> transfers_;
};

}  // namespace

PieceEnds::PieceEnds(const planning::PlanBuilder& builder, int from_buffer, int to_buffer,
                     const std::optional<Reduction>& joined)
    : join(joined),
      item_bytes(size_of(builder.operand(from_buffer).dtype)),
      order(builder.operand(from_buffer).axis_order) {
  from = {from_buffer, builder.rank(), 0, order};
  to = {to_buffer, builder.rank(), 0, order};
}

void append_pairwise_exchange(Chain& chain, int from, int to, const ExchangedPieces& moves,
                              std::int64_t largest) {
  PairwiseExchange(chain.builder(), from, to, moves, largest).run();
}

}  // namespace partita::collective
