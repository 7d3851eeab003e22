// Plans of many ranks, which take seconds: each is made once, and a bar says how many there are.
#pragma once

#include <partita/plan.hpp>
#include <string>

#include "tools/progress.hpp"

namespace partita::tools {

/// A phase for each of the ranks that `simulate` and `explain` ask for, and one more. `what`: "ranks
/// planned".
std::vector<std::string> phases_of_planning(int ranks, const std::string& what = "ranks planned");

/// The planner, which makes no plan twice as long as all plans together are short enough to be kept. Each new
/// plan ends a phase of `progress`, which must outlive it.
Planner planned_once(Planner planner, Progress& progress);

}  // namespace partita::tools
