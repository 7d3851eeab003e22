// Single steps, as planners write them.
#pragma once

#include <partita/plan.hpp>
#include <vector>

namespace partita {

/// `owner`: of the data that is copied, for information. `after`: messages to wait for first.
Step copy_step(int owner, Region region, Place from, Place to, std::vector<int> after = {});
Step signal_step(int peer, int channel);
/// `count`: signals since the start of the execution.
Step wait_step(int peer, int channel, std::int64_t count);
Step send_step(int peer, Place from, std::int64_t bytes);
Step receive_step(int peer, Place to, std::int64_t bytes);

/// Appends; gives the step's index, by which later ones name it.
int push(std::vector<Step>& steps, Step step);

}  // namespace partita
