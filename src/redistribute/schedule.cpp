#include "redistribute/schedule.hpp"

#include <algorithm>
#include <iterator>

#include "redistribute/split.hpp"

namespace partita::redistribution {

namespace {

// Of what is copied in place piece by piece: short enough that the rows of the source which several peers
// share are still in cache when the next peer's turn comes, and never more than so many pieces.
constexpr std::int64_t piece_bytes = 1 << 20;
constexpr std::int64_t most_pieces = 1024;

class Scheduler {
 public:
  Scheduler(const Problem& problem, const Method& method, const Staging& staging)
      : problem_(problem), method_(method), staging_(staging) {}

  std::vector<Item> run(const Exchange& exchange) {
    for (const Transfer& transfer : exchange.outgoing) give(transfer);
    for (const Transfer& transfer : exchange.incoming) {
      if (transfer.peer != problem_.rank) {
        take(transfer);
      } else if (problem_.accumulates) {
        add(Action::own, transfer, staging_.piece);
      }
    }
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.key() < b.key(); });
    if (!problem_.accumulates) {
      for (const Transfer& transfer : exchange.incoming) {
        if (transfer.peer == problem_.rank) interleave(transfer);
      }
    }
    return std::move(items_);
  }

 private:
  void give(const Transfer& transfer) {
    switch (method_.between(problem_, transfer.peer)) {
      case RedistributeMethod::staged:
        return add(Action::produce, transfer, staging_.chunk);
      case RedistributeMethod::pushed:
        return add(Action::write, transfer, write_bytes(transfer));
      case RedistributeMethod::messages:
        return add(Action::send, transfer, staging_.message);
      default:
        return;  // direct, pulled: the taker does it
    }
  }

  void take(const Transfer& transfer) {
    switch (method_.between(problem_, transfer.peer)) {
      case RedistributeMethod::staged:
        return add(Action::consume, transfer, staging_.chunk);
      case RedistributeMethod::direct:
      case RedistributeMethod::pulled:
        return add(Action::read, transfer, staging_.piece);
      case RedistributeMethod::messages:
        add(Action::post, transfer, staging_.message);
        return add(Action::unpack, transfer, staging_.message);
      default:
        return;  // pushed: the giver does it
    }
  }

  // Devices take a transfer at once: they have no cache to spare, and each piece would cost a start.
  std::int64_t write_bytes(const Transfer& transfer) const {
    if (on_device()) return 0;
    return std::max(piece_bytes, problem_.bytes(transfer.region) / most_pieces);
  }

  bool on_device() const { return problem_.source.space == MemorySpace::device; }

  // `bytes` at most a piece; 0: the transfer in one piece.
  std::vector<Region> pieces(const Region& region, std::int64_t bytes) const {
    if (bytes == 0) return {region};
    const std::int64_t elements = std::max<std::int64_t>(bytes / problem_.item_bytes(), 1);
    return split(region, elements, problem_.source.axis_order, problem_.destination.axis_order);
  }

  void add(Action action, const Transfer& transfer, std::int64_t bytes) {
    const bool gives = action == Action::produce || action == Action::write || action == Action::send;
    const int distance = gives ? problem_.distance(problem_.rank, transfer.peer)
                               : problem_.distance(transfer.peer, problem_.rank);
    std::vector<Region> regions = pieces(transfer.region, bytes);
    const auto rounds = static_cast<std::int64_t>(regions.size());
    for (std::int64_t round = 0; round < rounds; ++round) {
      const std::int64_t lead = action == Action::produce ? staging_.slots - 1 : 0;
      items_.push_back({action, transfer.peer, transfer.contribution, distance, round, rounds, lead,
                        std::move(regions[static_cast<std::size_t>(round)])});
    }
  }

  // What stays on the rank waits for nobody: it fills the time in which the others get ready, in pieces
  // spread evenly over the rest. Where nothing has to be handed over piece by piece, it comes first.
  void interleave(const Transfer& transfer) {
    const bool by_pieces =
        method_.uses_staging() || (!on_device() && (method_.uses_messages() || method_.writes()));
    std::vector<Item> rest = std::move(items_);
    items_.clear();
    const auto most = static_cast<std::int64_t>(rest.size()) / 2 + 1;
    const std::int64_t bytes = problem_.bytes(transfer.region);
    add(Action::own, transfer, by_pieces ? std::max(piece_bytes, bytes / most) : 0);
    std::vector<Item> own = std::move(items_);
    items_.clear();
    items_.reserve(own.size() + rest.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::size_t before = by_pieces ? rest.size() * (i + 1) / (own.size() + 1) : 0;
      for (; next < before; ++next) items_.push_back(std::move(rest[next]));
      items_.push_back(std::move(own[i]));
    }
    std::move(rest.begin() + static_cast<std::ptrdiff_t>(next), rest.end(), std::back_inserter(items_));
  }

  const Problem& problem_;
  const Method& method_;
  const Staging& staging_;
  std::vector<Item> items_;
};

}  // namespace

std::vector<Item> schedule(const Problem& problem, const Method& method, const Staging& staging,
                           const Exchange& exchange) {
  return Scheduler(problem, method, staging).run(exchange);
}

}  // namespace partita::redistribution
