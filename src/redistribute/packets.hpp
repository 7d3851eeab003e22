// Small redistributions between the devices of a node, one message a pair of ranks.
#pragma once

#include <optional>
#include <partita/redistribute.hpp>

#include "device/packet_exchange.hpp"
#include "plan/small_exchange.hpp"

namespace partita::redistribution {

/// Everything that the rank gives and takes, at once. Nothing where the destination holds contributions, or
/// those of the source are not of every rank. Pure, and the same decision on all ranks.
std::optional<planning::SmallExchange> small_exchange(const Operand& source, const Operand& destination,
                                                      const Topology& topology, int rank,
                                                      const RedistributeOptions& options = {});

/// What devices carry in packets (PacketRunner): one start and one way, where writing into peers' memory
/// takes a grant before and a signal after. Nothing: something else is asked for or better, or some rank has
/// more than `most_bytes` of either. Pure, and the same decision on all ranks.
inline constexpr std::int64_t most_bytes_in_packets = 2 * devices::PacketSlots::most_given;
std::optional<planning::SmallExchange> exchange_in_packets(const Operand& source, const Operand& destination,
                                                           const Topology& topology, int rank,
                                                           const RedistributeOptions& options,
                                                           std::int64_t most_bytes = most_bytes_in_packets);

/// The plan is the same as it would go between nodes, every message packed, sent and unpacked.
struct PlanInPackets {
  Plan plan;
  planning::SmallExchange exchange;
};

/// Nothing: as of `exchange_in_packets`.
std::optional<PlanInPackets> plan_in_packets(const Operand& source, const Operand& destination,
                                             const Topology& topology, int rank,
                                             const RedistributeOptions& options);

}  // namespace partita::redistribution
