// Reports of ranks that are in different kinds of calls: an execution and a check.
#pragma once

#include <vector>

#include "runtime/checks/difference.hpp"

namespace partita::runtime {

/// Leaves in all of them the facts that all of them know: what only some know is not a difference.
void keep_common_facts(std::vector<Report>& reports);

}  // namespace partita::runtime
