#include "redistribute/schedule.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "redistribute/split.hpp"

namespace partita::redistribution {

namespace {

using planning::Transfer;
using planning::TransferEnd;

// Of what is copied in place piece by piece: short enough that the rows of the source which several peers
// share are still in cache when the next peer's turn comes, and never more than so many pieces.
constexpr std::int64_t piece_bytes = 1 << 20;
constexpr std::int64_t most_pieces = 1024;
// Devices have no cache to spare, and each piece costs them a start.
constexpr std::int64_t device_piece_bytes = 64 << 20;

class Scheduler {
 public:
  Scheduler(const Problem& problem, const Method& method, const Staging& staging)
      : problem_(problem), method_(method), staging_(staging) {
    if (method.uses_staging()) node_ = problem.topology.node_ranks(problem.topology.node(problem.rank));
  }

  std::vector<Transfer> run(const Exchange& exchange) {
    for (const Overlap& overlap : exchange.outgoing) give(overlap);
    for (const Overlap& overlap : exchange.incoming) {
      if (overlap.peer != problem_.rank) {
        take(overlap);
      } else if (problem_.accumulates) {
        add(TransferEnd::keep, overlap, staging_.piece);
      }
    }
    std::vector<Transfer> list = planning::sorted_by_key(std::exchange(items_, {}));
    for (Transfer& transfer : list) transfer.slot = next_slot(transfer);
    if (problem_.accumulates) return list;
    for (const Overlap& overlap : exchange.incoming) {
      if (overlap.peer == problem_.rank) list = interleaved(std::move(list), overlap);
    }
    return list;
  }

 private:
  void give(const Overlap& overlap) {
    switch (method_.between(problem_, overlap.peer)) {
      case RedistributeMethod::staged:
        return add(TransferEnd::lend, overlap, staging_.chunk);
      case RedistributeMethod::pushed:
        return add(TransferEnd::put, overlap, put_bytes(overlap));
      case RedistributeMethod::messages:
        return add(TransferEnd::send, overlap, staging_.message);
      default:
        return;  // direct, pulled: the taker reads
    }
  }

  void take(const Overlap& overlap) {
    switch (method_.between(problem_, overlap.peer)) {
      case RedistributeMethod::staged:
        return add(TransferEnd::borrow, overlap, staging_.chunk);
      case RedistributeMethod::direct:
      case RedistributeMethod::pulled:
        return add(TransferEnd::read, overlap, staging_.piece);
      case RedistributeMethod::messages:
        add(TransferEnd::post, overlap, staging_.message);
        return add(TransferEnd::unpack, overlap, staging_.message);
      default:
        return;  // pushed: the giver puts
    }
  }

  // Devices take an overlap at once.
  std::int64_t put_bytes(const Overlap& overlap) const {
    if (on_device()) return 0;
    return std::max(piece_bytes, problem_.bytes(overlap.region) / most_pieces);
  }

  bool on_device() const { return problem_.source.space == MemorySpace::device; }

  // `bytes` at most a piece; 0: the overlap in one piece.
  std::vector<Region> pieces(const Region& region, std::int64_t bytes) const {
    if (bytes == 0) return {region};
    const std::int64_t elements = std::max<std::int64_t>(bytes / problem_.item_bytes(), 1);
    return split(region, elements, problem_.source.axis_order, problem_.destination.axis_order);
  }

  void add(TransferEnd end, const Overlap& overlap, std::int64_t bytes) {
    const bool gives = end == TransferEnd::lend || end == TransferEnd::put || end == TransferEnd::send;
    const int rank = problem_.rank, giver = gives ? rank : overlap.peer, taker = gives ? overlap.peer : rank;
    const std::int64_t lead = end == TransferEnd::lend ? staging_.slots - 1 : 0;
    std::vector<Region> regions = pieces(overlap.region, bytes);
    const auto count = static_cast<std::int64_t>(regions.size());
    for (std::int64_t k = 0; k < count; ++k) {
      items_.push_back({{k - lead, end != TransferEnd::lend, overlap.contribution,
                         problem_.distance(giver, taker), static_cast<std::int64_t>(end)},
                        {.end = end,
                         .peer = overlap.peer,
                         .region = std::move(regions[static_cast<std::size_t>(k)]),
                         .from = {source_buffer, giver, 0, {}},
                         .to = {destination_buffer, taker, 0, {}},
                         .reduction = problem_.reduction(overlap.contribution),
                         .first = k == 0,
                         .last = k + 1 == count}});
    }
  }

  // The ring of the pair (giver -> taker) is in the giver's staging.
  std::int64_t next_slot(const Transfer& transfer) {
    const bool lends = transfer.end == TransferEnd::lend;
    if (!lends && transfer.end != TransferEnd::borrow) return -1;
    const auto local = [&](int rank) {
      return static_cast<std::int64_t>(std::lower_bound(node_.begin(), node_.end(), rank) - node_.begin());
    };
    const auto ranks = static_cast<std::int64_t>(node_.size());
    const std::int64_t forward = local(transfer.peer) - local(problem_.rank);
    const std::int64_t ring = ((lends ? forward : -forward) - 1 + ranks) % ranks;
    std::int64_t& used = (lends ? lent_ : borrowed_)[transfer.peer];
    return ring * staging_.slots + used++ % staging_.slots;
  }

  // What stays on the rank waits for no peer: it fills the time in which the others get ready, in pieces
  // spread evenly over the rest. If nothing is transferred piece by piece, it comes first.
  std::vector<Transfer> interleaved(std::vector<Transfer> rest, const Overlap& overlap) {
    const bool by_pieces =
        method_.uses_staging() || (!on_device() && (method_.uses_messages() || method_.writes()));
    const auto most = static_cast<std::int64_t>(rest.size()) / 2 + 1;
    const std::int64_t bytes = problem_.bytes(overlap.region);
    const std::int64_t least = on_device() ? device_piece_bytes : piece_bytes;
    add(TransferEnd::keep, overlap, by_pieces ? std::max(least, bytes / most) : 0);
    std::vector<Transfer> own = planning::sorted_by_key(std::exchange(items_, {})), list;
    list.reserve(own.size() + rest.size());
    auto next = rest.begin();
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::size_t before = by_pieces ? rest.size() * (i + 1) / (own.size() + 1) : 0;
      const auto end = rest.begin() + static_cast<std::ptrdiff_t>(before);
      list.insert(list.end(), std::move_iterator(next), std::move_iterator(end));
      list.push_back(std::move(own[i]));
      next = end;
    }
    list.insert(list.end(), std::move_iterator(next), std::move_iterator(rest.end()));
    return list;
  }

  const Problem& problem_;
  const Method& method_;
  const Staging& staging_;
  std::vector<int> node_;                        // the ranks of this rank's node
  std::map<int, std::int64_t> lent_, borrowed_;  // pieces, by peer
  std::vector<planning::KeyedTransfer> items_;
};

}  // namespace

std::vector<std::vector<Transfer>> schedule(const Problem& problem, const Method& method,
                                            const Staging& staging, const std::vector<Exchange>& parts) {
  Scheduler scheduler(problem, method, staging);
  std::vector<std::vector<Transfer>> lists;
  for (const Exchange& part : parts) lists.push_back(scheduler.run(part));
  return lists;
}

}  // namespace partita::redistribution
