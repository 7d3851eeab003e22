// A discrete-event run of the plans of all ranks.
#pragma once

#include <functional>
#include <partita/machine.hpp>
#include <vector>

namespace partita::planning {

/// Told of every step when it ends: a step begins when the one before it has ended.
using StepObserver = std::function<void(std::size_t rank, std::size_t step, double begin, double end)>;

/// When each rank's last step ends, in seconds. Copies share the bandwidth of their node's memory with the
/// copies that run at the same time, messages queue for the links of both nodes, waits and messages meet
/// their partners. Throws ArgumentError where the plans wait for each other for ever.
std::vector<double> run_events(const std::vector<Plan>& plans, const Machine& machine,
                               const StepObserver& observer = {});

}  // namespace partita::planning
