#include "redistribute/packets.hpp"

#include <algorithm>

#include "redistribute/exchange.hpp"
#include "redistribute/problem.hpp"

namespace partita::redistribution {
namespace {

using namespace redistribution;

/// What stays on the rank uses the same few blocks.
bool is_small(const Problem& problem, std::int64_t most_bytes) {
  const std::int64_t elements =
      std::max(problem.source.layout.largest_local_size(), problem.destination.layout.largest_local_size());
  return elements * problem.item_bytes() <= most_bytes;
}

/// Rank c has contribution c to all of the source.
bool every_rank_contributes(const Layout& source) {
  Region whole;
  for (const std::int64_t extent : source.shape()) whole.sets.push_back(IndexSet::range(0, extent));
  const std::vector<Layout::Cell> cells = source.cells(whole);
  if (cells.size() != 1 || cells[0].contributions.size() != static_cast<std::size_t>(source.ranks()))
    return whole.empty();
  for (int rank = 0; rank < source.ranks(); ++rank) {
    if (cells[0].contributions[static_cast<std::size_t>(rank)] != std::vector{rank}) return false;
  }
  return true;
}

/// Of n bytes a rank gives n (P - 1) in one round and 2 n (P - 1) / P in two; the second costs a flight. As
/// measured (docs/performance.md).
bool prefers_two_rounds(const Problem& problem) {
  constexpr std::int64_t bytes_of_a_flight = 320 << 10;
  const std::int64_t bytes = volume(problem.source.layout.shape()) * problem.item_bytes();
  const int ranks = problem.topology.ranks();
  return bytes * (ranks - 1) * (ranks - 2) / ranks >= bytes_of_a_flight;
}

/// The root gives the whole, or every rank does (root -1), and all but the root want it.
bool goes_whole_to_all(const Problem& problem, int root) {
  const std::int64_t whole = volume(problem.source.layout.shape());
  for (int rank = 0; rank < problem.topology.ranks(); ++rank) {
    const bool gives = root < 0 || rank == root;
    if (problem.source.layout.local_size(rank) != (gives ? whole : 0)) return false;
    if (problem.destination.layout.local_size(rank) != (rank == root ? 0 : whole)) return false;
  }
  return true;
}

planning::SmallExchange small_exchange(const Problem& problem) {
  planning::SmallExchange small{problem.source, problem.destination, problem.rank, {}, {}};
  Exchange all = exchange(problem);
  for (Overlap& overlap : all.outgoing) small.given.push_back({overlap.peer, std::move(overlap.region)});
  for (Overlap& overlap : all.incoming) {
    if (overlap.peer == problem.rank) {
      small.kept = std::move(overlap.region);
    } else {
      small.taken.push_back({overlap.peer, std::move(overlap.region)});
    }
  }
  const Layout& source = problem.source.layout;
  if (problem.accumulates) small.joined = source.partial()->reduction;
  if (!prefers_two_rounds(problem)) return small;
  const int root = small.joined ? -1 : source.owner(Extents::filled(source.dimensions(), 0));
  small.passed_on = goes_whole_to_all(problem, root);
  if (small.passed_on) small.root = root;
  return small;
}

bool may_be_small(const Problem& problem) {
  return !problem.destination.layout.partial() &&
         (!problem.accumulates || every_rank_contributes(problem.source.layout));
}

}  // namespace

std::optional<planning::SmallExchange> small_exchange(const Operand& source, const Operand& destination,
                                                      const Topology& topology, int rank,
                                                      const RedistributeOptions& options) {
  const Problem problem = make_problem(source, destination, topology, rank, options);
  if (!may_be_small(problem)) return std::nullopt;
  return small_exchange(problem);
}

std::optional<planning::SmallExchange> exchange_in_packets(const Operand& source, const Operand& destination,
                                                           const Topology& topology, int rank,
                                                           const RedistributeOptions& options,
                                                           std::int64_t most_bytes) {
  const int ranks = topology.ranks();
  if (source.space != MemorySpace::device || destination.space != MemorySpace::device || ranks < 2 ||
      ranks > devices::PacketSlots::most_ranks || topology.node_count() != 1 ||
      options.method != RedistributeMethod::automatic || options.staging_bytes != 0) {
    return std::nullopt;
  }
  const Problem problem = make_problem(source, destination, topology, rank, options);
  if (problem.same_layout || !is_small(problem, most_bytes) || !may_be_small(problem)) return std::nullopt;
  return small_exchange(problem);
}

std::optional<PlanInPackets> plan_in_packets(const Operand& source, const Operand& destination,
                                             const Topology& topology, int rank,
                                             const RedistributeOptions& options) {
  auto exchange = exchange_in_packets(source, destination, topology, rank, options);
  if (!exchange) return std::nullopt;
  RedistributeOptions by_messages = options;
  by_messages.method = RedistributeMethod::messages;
  Plan plan = plan_redistribute(source, destination, topology, rank, by_messages);
  plan.method = "packets";
  plan.reason = "small transfer: one kernel launch; flags are embedded in the data";
  return PlanInPackets{std::move(plan), *std::move(exchange)};
}

}  // namespace partita::redistribution
