// From the schedule to the steps.
#pragma once

#include <vector>

#include "plan/plan_builder.hpp"
#include "redistribute/exchange.hpp"
#include "redistribute/method.hpp"

namespace partita::redistribution {

// The buffers of every redistribution's plan, by number.
inline constexpr int source_buffer = 0;
inline constexpr int destination_buffer = 1;
inline constexpr int shared_buffer = 2;
inline constexpr int private_buffer = 3;

/// Writes the steps of one rank: `parts` of the exchange `whole`, one after the other; gives the steps at
/// which they begin.
std::vector<int> walk(const Problem& problem, const Method& method, const Staging& staging,
                      const Exchange& whole, const std::vector<Exchange>& parts,
                      planning::PlanBuilder& builder);

/// destination[i] = first contribution; then destination[i] = reduce(destination[i], next contribution).
/// `owner`: who gave what lies at `from`; `after`: the message that brought it.
void deliver(const Problem& problem, int owner, int contribution, Region region, const Place& from,
             std::vector<int> after, planning::PlanBuilder& builder);

}  // namespace partita::redistribution
