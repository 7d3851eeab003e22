#include "redistribute/packets.hpp"

#include <algorithm>

#include "device/packet_exchange.hpp"
#include "redistribute/problem.hpp"

namespace partita {
namespace {

using namespace redistribution;

/// What stays on the rank goes through the same few blocks.
bool is_small(const Problem& problem) {
  const std::int64_t elements =
      std::max(problem.source.layout.largest_local_size(), problem.destination.layout.largest_local_size());
  return elements * problem.item_bytes() <= 2 * PacketSlots::most_given;
}

/// Whether every rank's part of the destination is made of copies, and somebody gets some of another's.
bool is_copied(const Problem& problem) {
  return !problem.same_layout && !problem.accumulates && !problem.destination.layout.partial();
}

}  // namespace

std::optional<Plan> plan_in_packets(const Operand& source, const Operand& destination,
                                    const Topology& topology, int rank, const RedistributeOptions& options) {
  const int ranks = topology.ranks();
  if (source.space != MemorySpace::device || destination.space != MemorySpace::device || ranks < 2 ||
      ranks > PacketSlots::most_ranks || topology.node_count() != 1 ||
      options.method != RedistributeMethod::automatic || options.staging_bytes != 0) {
    return std::nullopt;
  }
  const Problem problem = make_problem(source, destination, topology, rank, options);
  if (!is_small(problem) || !is_copied(problem)) return std::nullopt;
  RedistributeOptions by_messages = options;
  by_messages.method = RedistributeMethod::messages;
  Plan plan = plan_redistribute(source, destination, topology, rank, by_messages);
  plan.method = "packets";
  plan.reason = "little between devices: one start and one way, every word tells that it has come";
  return plan;
}

}  // namespace partita
