// Which steps of a plan have to wait for which, if not all of them run in its order.
#pragma once

#include <partita/plan.hpp>
#include <span>
#include <vector>

#include "plan/touched.hpp"

namespace partita::planning {

/// Steps in lanes, each of which goes in the order of the plan. A step follows
///   - earlier ones that have written bytes that it reads or writes, or have read bytes that it writes,
///   - as a signal or wait: all signals and waits before,
///   - as a signal: all before that touch what peers see, who may use it from then on,
///   - where it touches what peers see: all waits before.
struct Dependencies {
  /// By step: those in other lanes that it waits for; of each lane the last one at most, and none of which
  /// its lane knows already that it is done, because it has waited for it or for what has waited for it.
  std::vector<std::vector<int>> after;
};

/// `lanes`: by step; negative: in none, and ordered by others. Time and memory grow with the number of steps,
/// and that with the number of lanes.
Dependencies find_dependencies(const Plan& plan, std::span<const Touched> touched,
                               std::span<const int> lanes);

}  // namespace partita::planning
