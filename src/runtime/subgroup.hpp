// What the sub-groups of all backends have in common.
#pragma once

#include <partita/topology.hpp>
#include <vector>

namespace partita {

/// Throws ArgumentError unless `ranks` names ranks of a group of `size`, each once, `caller` among them.
/// Returns the place of `caller` in it.
int check_subgroup(const std::vector<int>& ranks, int size, int caller);

/// The nodes of these ranks, numbered anew in order of appearance.
Topology subgroup_topology(const Topology& topology, const std::vector<int>& ranks);

}  // namespace partita
