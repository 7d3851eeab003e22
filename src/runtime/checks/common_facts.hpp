// Reports of ranks that are in different kinds of calls: an execution and a check.
#pragma once

#include <vector>

#include "runtime/checks/difference.hpp"

namespace partita::runtime {

/// The fact of ranks that have executed different things before: the number, and a hash of them.
constexpr const char* executed_before = "the previous executions";

/// Leaves in all of them the facts that all of them know: what only some know is not a difference.
void keep_common_facts(std::vector<Report>& reports);

}  // namespace partita::runtime
