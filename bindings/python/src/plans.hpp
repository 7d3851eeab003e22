// Plans of all ranks of an operation.
#pragma once

#include <partita/machine.hpp>
#include <partita/plan.hpp>
#include <string>

namespace partita::python {

/// What plans any rank of an operation.
struct Planned {
  Planner planner;
  int ranks = 1;
};

/// Of that name or file; of an empty one Machine::here().
Machine machine_of(const std::string& name);

ExplainOptions explained_as(bool steps, bool json);
std::string explained(const Plan& plan, bool steps, bool json);

}  // namespace partita::python
