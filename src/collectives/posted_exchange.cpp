#include "collectives/posted_exchange.hpp"

#include <algorithm>
#include <utility>

#include "base/round.hpp"
#include "redistribute/split.hpp"

namespace partita::collective {
namespace {

using planning::Channel;

constexpr std::int64_t line_bytes = 64;
// What lies between stays in cache; a device's copy takes its start, whatever it moves.
constexpr std::int64_t most_own_bytes = 256 << 10;
constexpr std::int64_t most_own_bytes_on_device = 16 << 20;
// So much of a rank's own lies beside what it gives, so that a device packs all that is small at once.
constexpr std::int64_t most_own_bytes_beside = 8 << 20;

std::int64_t room(const Region& region, std::int64_t item) {
  return round_up(region.size() * item, line_bytes);
}

/// Of what the rank gives itself, if it lies beside what it gives to others.
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
        from_(from),
        to_(to),
        moves_(moves),
        item_(size_of(builder.operand(from).dtype)),
        most_own_(builder.operand(from).space == MemorySpace::device ? most_own_bytes_on_device
                                                                     : most_own_bytes),
        own_beside_(own_bytes_beside(moves.given, builder.rank(), item_, builder.operand(from).space) > 0),
        order_(builder.operand(from).axis_order) {
    shared_ = builder.add_scratch("given", BufferKind::shared, most_bytes);
    private_ = builder.add_scratch("messages", BufferKind::scratch, private_bytes());
  }

  void give() {
    if (!own_beside_) move_own();
    for (const Piece& piece : moves_.given) {
      if (piece.peer != builder_.rank()) give_to(piece);
    }
    own_from_ = used_shared_;
    if (own_beside_) for_each_own(moves_.given, [&](const Piece& piece) { give_to(piece); });
    for (const int taker : peers_of(moves_.given)) builder_.signal(taker, Channel::ready);
  }

  void take(const GivenBy& given_by) {
    std::vector<std::pair<const Piece*, Arrival>> messages;
    for (const Piece& piece : moves_.taken) {
      if (!builder_.same_node(piece.peer)) messages.emplace_back(&piece, arrival(piece));
    }
    if (own_beside_) take_own();
    for (const int giver : peers_of(moves_.taken)) take_from(giver, given_by(giver));
    for (const auto& [piece, message] : messages) {
      append_taken(builder_, moves_, *piece, message.place, here(to_), {message.step});
    }
    for (const int taker : peers_of(moves_.given)) builder_.wait(taker, Channel::done);
    builder_.finish(sent_);
  }

 private:
  struct Arrival {
    Place place;
    int step = -1;
  };

  Place here(int buffer) const { return {buffer, builder_.rank(), 0, order_}; }

  /// Those of this node but this rank itself, each once.
  std::vector<int> peers_of(const std::vector<Piece>& pieces) const {
    std::vector<int> peers;
    for (const Piece& piece : pieces) {
      const bool near = piece.peer != builder_.rank() && builder_.same_node(piece.peer);
      if (near && (peers.empty() || peers.back() != piece.peer)) peers.push_back(piece.peer);
    }
    return peers;
  }

  std::int64_t private_bytes() const {
    std::int64_t bytes = own_bytes();
    for (const std::vector<Piece>* pieces : {&moves_.given, &moves_.taken}) {
      for (const Piece& piece : *pieces) {
        bytes += builder_.same_node(piece.peer) ? 0 : room(piece.region, item_);
      }
    }
    return bytes;
  }

  Place next_private(const Region& region) {
    const Place place{private_, builder_.rank(), used_private_, order_};
    used_private_ += room(region, item_);
    return place;
  }

  // The k-th piece that a rank gives itself is the k-th that it takes; both are cut alike.
  void move_own() {
    auto taken = moves_.taken.begin();
    for (const Piece& piece : moves_.given) {
      if (piece.peer != builder_.rank()) continue;
      while (taken->peer != builder_.rank()) ++taken;
      move_own(cut_own(piece), cut_own(*taken++));
    }
    used_private_ = own_bytes();
  }

  template <class Visit>
  void for_each_own(const std::vector<Piece>& pieces, const Visit& visit) const {
    for (const Piece& piece : pieces) {
      if (piece.peer == builder_.rank()) visit(piece);
    }
  }

  void take_own() {
    std::int64_t offset = own_from_;
    for_each_own(moves_.taken, [&](const Piece& piece) {
      append_taken(builder_, moves_, piece, {shared_, builder_.rank(), offset, order_}, here(to_));
      offset += room(piece.region, item_);
    });
  }

  void move_own(const std::vector<Region>& given, const std::vector<Region>& taken) {
    const Place between{private_, builder_.rank(), 0, order_};
    for (std::size_t k = 0; k < given.size(); ++k) {
      builder_.copy(builder_.rank(), given[k], here(from_), between);
      append_taken(builder_, moves_, {builder_.rank(), taken[k]}, between, here(to_));
    }
  }

  std::vector<Region> cut_own(const Piece& piece) const {
    return redistribution::split(piece.region, most_own_ / item_, order_, order_);
  }

  /// Of the largest own piece, or what is cut off it.
  std::int64_t own_bytes() const {
    if (own_beside_) return 0;
    std::int64_t bytes = 0;
    for_each_own(moves_.given,
                 [&](const Piece& piece) { bytes = std::max(bytes, room(piece.region, item_)); });
    return std::min(bytes, most_own_);
  }

  void give_to(const Piece& piece) {
    if (builder_.same_node(piece.peer)) {
      const Place place{shared_, builder_.rank(), used_shared_, order_};
      used_shared_ += room(piece.region, item_);
      builder_.copy(builder_.rank(), piece.region, here(from_), place);
      return;
    }
    const Place packed = next_private(piece.region);
    builder_.copy(builder_.rank(), piece.region, here(from_), packed);
    sent_.push_back(builder_.send(piece.peer, packed, piece.region.size() * item_));
  }

  Arrival arrival(const Piece& piece) {
    const Place place = next_private(piece.region);
    return {place, builder_.receive(piece.peer, place, piece.region.size() * item_)};
  }

  /// `given`: all that the giver gives, as it has put it into its scratch.
  void take_from(int giver, const std::vector<Piece>& given) {
    builder_.wait(giver, Channel::ready);
    auto taken = std::ranges::find(moves_.taken, giver, &Piece::peer);
    std::int64_t offset = 0;
    for (const Piece& piece : given) {
      if (piece.peer == giver || !builder_.same_node(piece.peer)) continue;
      if (piece.peer == builder_.rank()) {
        append_taken(builder_, moves_, *taken++, {shared_, giver, offset, order_}, here(to_));
      }
      offset += room(piece.region, item_);
    }
    builder_.signal(giver, Channel::done);
  }

  planning::PlanBuilder& builder_;
  int from_;
  int to_;
  const ExchangedPieces& moves_;
  std::int64_t item_;
  std::int64_t most_own_;
  bool own_beside_;  // what this rank gives itself lies behind what it gives to others
  Extents order_;
  int shared_ = -1;
  int private_ = -1;
  std::int64_t used_shared_ = 0;
  std::int64_t own_from_ = 0;
  std::int64_t used_private_ = 0;
  std::vector<int> sent_;
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
  planning::PlanBuilder& builder = chain.builder();
  PostedExchange exchange(builder, from, to, moves, most_bytes);
  exchange.give();
  const std::size_t given = builder.plan().steps.size();
  exchange.take(given_by);
  return given;
}

}  // namespace partita::collective
