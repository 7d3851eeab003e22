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
  std::vector<Part> taken;          ///< parts of the destination that are received
  std::optional<Region> kept = {};  ///< of the source, in the rank's own destination
  /// If set: the received and kept parts are one region, with one contribution per rank, reduced in rank
  /// order.
  std::optional<Reduction> joined = {};
  /// Whether it may be done in two rounds by slices, which the receiving ranks forward to each other: every
  /// rank receives (and reduces) the data of all ranks or of the root.
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
