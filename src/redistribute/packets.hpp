// Small redistributions between the devices of a node, one message a pair of ranks.
#pragma once

#include <optional>
#include <partita/redistribute.hpp>

namespace partita {

/// The plan in which every rank packs one message for each peer that takes something of it, and unpacks those
/// that it gets, as between nodes. Devices carry such messages in packets (PacketPlan): one start and one
/// way, where writing into peers' memory takes a grant before and a signal after. Nothing: something else is
/// asked for or better. Pure, and the same decision on all ranks.
std::optional<Plan> plan_in_packets(const Operand& source, const Operand& destination,
                                    const Topology& topology, int rank, const RedistributeOptions& options);

}  // namespace partita
