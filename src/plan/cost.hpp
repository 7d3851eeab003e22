// What single steps cost on a machine: the formulae of price and simulate, in one place.
#pragma once

#include <partita/machine.hpp>

namespace partita::planning {

/// A copy as the memory system sees it.
struct CopyCost {
  double traffic = 0;  ///< bytes, an accumulate and a fill weighted by what they read and write
  double cap = 0;      ///< bytes a second that this rank reaches, whatever the others of its node do
};
CopyCost copy_cost(const Plan& plan, const Step& step, const Machine& machine);

/// Bytes a second of a message while it is alone: the node's link, or two copies inside a node.
double message_bandwidth(bool same_node, const Machine& machine);
double message_latency(bool same_node, const Machine& machine);

bool is_copy(StepKind kind);
bool is_message(StepKind kind);

/// Operations a second of one rank in transforms of elements of such a dtype.
double transform_flops(const Machine& machine, Dtype elements);

/// Ranks of the topology on the node of `rank`.
int ranks_on_node(const Topology& topology, int rank);

}  // namespace partita::planning
