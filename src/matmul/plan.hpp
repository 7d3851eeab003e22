// Plans of multiplies, as contexts ask for them.
#pragma once

#include <optional>
#include <partita/matmul.hpp>
#include <vector>

#include "matmul/emit/groups.hpp"
#include "plan/small_exchange.hpp"

namespace partita::multiplication {

/// A plan, and which of its redistributions devices may carry in packets: the small ones where the multiply
/// itself moves nothing.
struct ProductPlan {
  Plan plan;
  std::vector<planning::PacketSteps> packets;
};

/// `plan_matmul`. `groups`: something carries messages between the devices of nodes in groups
/// (Plan::grouped); the plan then consists of such groups if the operands are on devices of several nodes and
/// no memory limit is given.
ProductPlan plan_product(const MatmulOperands& operands, const Topology& topology, int rank,
                         const MatmulOptions& options, const Machine& machine, bool in_place,
                         const std::optional<Groups>& groups);

}  // namespace partita::multiplication
