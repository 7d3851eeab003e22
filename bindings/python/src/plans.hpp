// Plans of all ranks of an operation.
#pragma once

#include <partita/plan.hpp>
#include <string>

namespace partita::python {

/// What plans any rank of an operation.
struct Planned {
  Planner planner;
  int ranks = 1;
};

std::string explained(const Plan& plan, bool steps, bool json);

}  // namespace partita::python
