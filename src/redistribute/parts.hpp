// A source that becomes ready part by part, as a stage of a transform computes it.
#pragma once

#include <partita/redistribute.hpp>
#include <vector>

#include "redistribute/exchange.hpp"

namespace partita::redistribution {

/// Part i of a rank is the i-th of `count` shares, as equal as they can be, of what it owns of the source
/// along `axis`; some are empty where it owns less. Any rank's parts follow from the layout alone, so both
/// ends of a transfer cut it alike.
struct Parts {
  int axis = 0;  ///< of the source
  int count = 1;
};
Region part_of(const Region& own, const Parts& parts, int number);

/// What of `whole` belongs to each part of its giver.
std::vector<Exchange> in_parts(const Exchange& whole, const Problem& problem, const Parts& parts);

struct PlanInParts {
  Plan plan;
  /// The step before which part i of the rank's source must be in its place. Nothing that follows it waits
  /// for a part with a larger number, on any rank: what makes the parts may stand between the steps.
  std::vector<int> begins;
};

/// A redistribution in sequential parts. The messages of a part are in transit while the steps after begins[i
/// + 1] are executed; scratch is bounded as in every redistribution. Arguments and errors as for
/// plan_redistribute.
PlanInParts plan_in_parts(const Operand& source, const Operand& destination, const Topology& topology,
                          int rank, const RedistributeOptions& options, const Parts& parts);

}  // namespace partita::redistribution
