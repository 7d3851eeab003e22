#include "collectives/posted_exchange.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/round.hpp"
#include "base/units.hpp"
#include "redistribute/split.hpp"

namespace partita::collective {
namespace {

using planning::Transfer;
using planning::TransferEnd;

// This much stays in cache; a device's copy takes a kernel launch, whatever it copies.
constexpr std::int64_t most_own_bytes = 256 << 10;
constexpr std::int64_t most_own_bytes_on_device = 16 << 20;
// This much of a rank's own part is packed together with what it sends, so that a device packs all at once.
constexpr std::int64_t most_own_bytes_beside = 8 << 20;

std::int64_t room(const Region& region, std::int64_t item) {
  return round_up(region.size() * item, cache_line);
}

/// The bytes that the rank sends to itself, if they are adjacent to what it sends to others.
std::int64_t own_bytes_beside(const std::vector<Piece>& given, int rank, std::int64_t item,
                              MemorySpace space) {
  if (space == MemorySpace::host) return 0;
  std::int64_t bytes = 0;
  for (const Piece& piece : given) bytes += piece.peer == rank ? room(piece.region, item) : 0;
  return bytes <= most_own_bytes_beside ? bytes : 0;
}

class PostedExchange {
 public:
  PostedExchange(planning::PlanBuilder& builder, int from, int to, const ExchangedPieces& moves,
                 std::int64_t most_bytes)
      : builder_(builder),
        ends_(builder, from, to, moves.join),
        moves_(moves),
        scratch_{ends_.order, ends_.item_bytes} {
    const MemorySpace space = builder.operand(from).space;
    own_beside_ = own_bytes_beside(moves.given, builder.rank(), ends_.item_bytes, space) > 0;
    most_own_ = space == MemorySpace::device ? most_own_bytes_on_device : most_own_bytes;
    shared_ = builder.add_scratch("given", BufferKind::shared, most_bytes);
    scratch_.messages_at = own_bytes();
    scratch_.send_bytes = far_bytes(moves.given);
    scratch_.receive_bytes = far_bytes(moves.taken);
    scratch_.most_messages = std::numeric_limits<std::size_t>::max();
    scratch_.messages = builder.add_scratch(
        "messages", BufferKind::scratch, scratch_.messages_at + scratch_.send_bytes + scratch_.receive_bytes);
  }

  /// Gives how many steps the plan has when all has been given.
  std::size_t run(const GivenBy& given_by) {
    planning::TransferWriter writer(builder_, scratch_);
    writer.write(given());
    for (const int taker : neighbours(moves_.given)) writer.offer(taker);
    const std::size_t steps = builder_.plan().steps.size();
    std::vector<Transfer> list = taken(given_by);
    writer.expect(list);
    writer.write(std::move(list));
    writer.close();
    return steps;
  }

 private:
  bool is_own(const Piece& piece) const { return piece.peer == builder_.rank(); }
  bool is_near(const Piece& piece) const { return builder_.same_node(piece.peer); }
  std::int64_t room_of(const Piece& piece) const { return room(piece.region, ends_.item_bytes); }

  /// Peers of the node, each once.
  std::vector<int> neighbours(const std::vector<Piece>& pieces) const {
    std::vector<int> peers;
    for (const Piece& piece : pieces) {
      const bool is_next = peers.empty() || peers.back() != piece.peer;
      if (is_next && is_near(piece) && !is_own(piece)) peers.push_back(piece.peer);
    }
    return peers;
  }

  std::int64_t far_bytes(const std::vector<Piece>& pieces) const {
    std::int64_t bytes = 0;
    for (const Piece& piece : pieces) bytes += is_near(piece) ? 0 : room_of(piece);
    return bytes;
  }

  /// Of the largest own piece, or what is cut off it.
  std::int64_t own_bytes() const {
    std::int64_t bytes = 0;
    for (const Piece& piece : moves_.given) bytes = std::max(bytes, is_own(piece) ? room_of(piece) : 0);
    return own_beside_ ? 0 : std::min(bytes, most_own_);
  }

  /// Does not wait.
  std::vector<Transfer> given() {
    std::vector<Transfer> list;
    if (!own_beside_) keep(list);
    auto pack = [&, used = std::int64_t{0}](const Piece& piece) mutable {
      if (is_own(piece) && own_from_ < 0) own_from_ = used;
      list.push_back(ends_.packed(piece.region, {shared_, builder_.rank(), used, ends_.order}));
      used += room_of(piece);
    };
    for (const Piece& piece : moves_.given) {
      if (!is_near(piece)) {
        list.push_back(ends_.transfer(TransferEnd::send, piece.peer, piece.region));
      } else if (!is_own(piece)) {
        pack(piece);
      }
    }
    for (const Piece& piece : moves_.given) {
      if (own_beside_ && is_own(piece)) pack(piece);
    }
    return list;
  }

  std::vector<Transfer> taken(const GivenBy& given_by) const {
    std::vector<Transfer> list;
    for (const Piece& piece : moves_.taken) {
      if (!is_near(piece)) list.push_back(ends_.transfer(TransferEnd::post, piece.peer, piece.region));
    }
    std::int64_t offset = own_from_;
    for (const Piece& piece : moves_.taken) {
      if (!own_beside_ || !is_own(piece)) continue;
      list.push_back(ends_.unpacked(TransferEnd::keep, piece.peer, piece.region,
                                    {shared_, piece.peer, offset, ends_.order}));
      offset += room_of(piece);
    }
    for (const int giver : neighbours(moves_.taken)) take_from(giver, given_by(giver), list);
    return list;
  }

  // The k-th piece that a rank gives itself is the k-th that it takes; both are cut alike.
  void keep(std::vector<Transfer>& list) const {
    const Place between{scratch_.messages, builder_.rank(), 0, ends_.order};
    const auto cut = [&](const Piece& piece) {
      return redistribution::split(piece.region, most_own_ / ends_.item_bytes, ends_.order, ends_.order);
    };
    auto next = moves_.taken.begin();
    for (const Piece& piece : moves_.given) {
      if (!is_own(piece)) continue;
      next = std::find_if(next, moves_.taken.end(), [&](const Piece& taken) { return is_own(taken); });
      const std::vector<Region> from = cut(piece), to = cut(*next++);
      for (std::size_t k = 0; k < from.size(); ++k) {
        list.push_back(ends_.packed(from[k], between));
        list.push_back(ends_.unpacked(TransferEnd::keep, builder_.rank(), to[k], between));
      }
    }
  }

  /// `given`: all that the giver gives, as it has put it into its scratch.
  void take_from(int giver, const std::vector<Piece>& given, std::vector<Transfer>& list) const {
    auto taken = std::ranges::find(moves_.taken, giver, &Piece::peer);
    const std::size_t first = list.size();
    std::int64_t offset = 0;
    for (const Piece& piece : given) {
      if (piece.peer == giver || !is_near(piece)) continue;
      if (is_own(piece)) {
        list.push_back(
            ends_.unpacked(TransferEnd::read, giver, taken++->region, {shared_, giver, offset, ends_.order}));
      }
      offset += room_of(piece);
    }
    planning::announce_together(std::span(list).subspan(first));
  }

  planning::PlanBuilder& builder_;
  PieceEnds ends_;
  const ExchangedPieces& moves_;
  planning::TransferScratch scratch_;
  std::int64_t most_own_ = 0;
  bool own_beside_ = false;  // what this rank gives itself is stored behind what it gives to others
  int shared_ = -1;
  std::int64_t own_from_ = -1;  // in `shared_`
};

}  // namespace

std::int64_t posted_bytes(const std::vector<Piece>& given, const Topology& topology, int rank,
                          std::int64_t item, MemorySpace space) {
  std::int64_t bytes = own_bytes_beside(given, rank, item, space);
  for (const Piece& piece : given) {
    const bool near = piece.peer != rank && topology.same_node(piece.peer, rank);
    bytes += near ? room(piece.region, item) : 0;
  }
  return bytes;
}

std::size_t append_posted_exchange(Chain& chain, int from, int to, const ExchangedPieces& moves,
                                   const GivenBy& given_by, std::int64_t most_bytes) {
  return PostedExchange(chain.builder(), from, to, moves, most_bytes).run(given_by);
}

}  // namespace partita::collective
