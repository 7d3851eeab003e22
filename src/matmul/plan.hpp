// Plans of multiplies, as contexts ask for them.
#pragma once

#include <optional>
#include <partita/matmul.hpp>

#include "matmul/groups.hpp"

namespace partita::multiplication {

/// `plan_matmul`. `groups`: something carries messages between the devices of nodes in groups
/// (Plan::grouped); the plan is then of such groups where the operands lie on devices of several nodes, and
/// no memory limit is given.
Plan plan_product(const MatmulOperands& operands, const Topology& topology, int rank,
                  const MatmulOptions& options, const Machine& machine, bool in_place,
                  const std::optional<Groups>& groups);

}  // namespace partita::multiplication
