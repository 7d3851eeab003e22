// Which steps of a plan have to wait for which, if not all of them run in its order.
#pragma once

#include <partita/plan.hpp>
#include <span>
#include <vector>

#include "plan/touched.hpp"

namespace partita::planning {

/// Dependencies between steps in lanes, each of which is executed in the order of the plan. A step follows
///   - earlier ones that have written bytes that it reads or writes, or have read bytes that it writes,
///   - for a signal or wait: earlier ones of the same peer and channel,
///   - for a signal: the steps whose completion it announces to the peer (`announced_by`),
///   - the wait that it depends on (`awaited_by`).
struct Dependencies {
  /// By step: those in other lanes that it waits for; of each lane the last one at most, and none of which
  /// its lane knows already that it is done, because it has waited for it or for what has waited for it.
  std::vector<std::vector<int>> after;
};

/// Accesses of a rank's memory, of that which peers may access, too.
struct SharedAccess {
  int rank = 0;
  bool reads = false;
  bool writes = false;
};
/// What a signal of rank `own` says is done, and what a wait is for, by the meaning of the channels
/// (channels.hpp).
SharedAccess announced_by(const Step& signal, int own);
SharedAccess awaited_by(const Step& wait, int own);

/// `lanes`: by step; negative: in none, and ordered by others. Time and memory grow with the number of steps,
/// and that with the number of lanes.
Dependencies find_dependencies(const Plan& plan, std::span<const Touched> touched,
                               std::span<const int> lanes);

}  // namespace partita::planning
