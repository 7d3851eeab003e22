// Little that all ranks exchange at once: who gives what to whom.
#pragma once

#include <cstddef>
#include <optional>
#include <partita/plan.hpp>
#include <vector>

namespace partita::planning {

/// One rank's side of it, as its planner knows it. Regions are of one index space, that of both operands.
/// What one rank gives another is one message, dense in the source's order of axes.
struct SmallExchange {
  struct Part {
    int peer = 0;
    Region region;
  };

  Operand source, destination;
  int rank = 0;
  std::vector<Part> given;          ///< of the source; at most one a peer
  std::vector<Part> taken;          ///< of the destination, likewise
  std::optional<Region> kept = {};  ///< of the source, in the rank's own destination
  /// What is taken and kept is one region, a contribution of every rank, and joined in the order of ranks.
  std::optional<Reduction> joined = {};
  /// May be done in two rounds by slices, which the ranks that take them pass on to one another: everybody
  /// takes the whole from all (and joins it) or from the root.
  bool passed_on = false;
  int root = -1;
};

/// Steps of a plan that are an exchange between two of its buffers, which devices may carry out in packets
/// instead.
struct PacketSteps {
  std::size_t first = 0, behind = 0;  ///< the steps [first, behind)
  int source = -1, destination = -1;  ///< buffers
  SmallExchange exchange;
};

}  // namespace partita::planning
