// Who goes next.
#pragma once

#include <random>

#include "plan/verify/execution.hpp"

namespace partita::symbolic {

/// Runs until nothing moves any more. Schedule 0: round-robin; 1, 2: the lowest, the highest rank that can
/// move; from 3 on by turns a random order of precedence (it starves a random rank for as long as others can
/// move) and random bursts.
void run_schedule(Execution& execution, int ranks, int schedule, std::mt19937_64& random);

/// One line for each cycle of waits and for each wait for a rank that has ended.
void report_stuck(Execution& execution, int ranks, Faults& faults);

}  // namespace partita::symbolic
