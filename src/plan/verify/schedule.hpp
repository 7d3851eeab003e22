// The interleaving of ranks.
#pragma once

#include <algorithm>
#include <random>

#include "plan/verify/execution.hpp"

namespace partita::verification {

/// Runs until nothing moves any more. Schedule 0: round-robin; 1, 2: the lowest, the highest rank that can
/// move; from 3 on by turns a random order of precedence (it starves a random rank for as long as others can
/// move) and random bursts.
void run_schedule(Execution& execution, int ranks, int schedule, std::mt19937_64& random);

/// One line for each cycle of waits and for each wait for a rank that has ended.
void report_stuck(Execution& execution, int ranks, Faults& faults);

/// Runs executions that `make(pace)` gives a pointer to, one a schedule, and gives those that come to their
/// end to `check(execution)`. Even schedules buffer sends, odd ones hold them back until the peer receives: a
/// plan must work with both, and with its lanes in any order.
template <class Make, class Check>
void run_schedules(int ranks, int schedules, std::uint64_t seed, Faults& faults, const Make& make,
                   const Check& check) {
  std::mt19937_64 random(seed);
  for (int schedule = 0; schedule < std::max(schedules, 1) && !faults.full(); ++schedule) {
    const auto made = make(Pace{schedule % 2 == 0 ? SendMode::buffered : SendMode::rendezvous,
                                static_cast<LaneOrder>(schedule % 3)});
    auto& execution = *made;
    run_schedule(execution, ranks, schedule, random);
    if (execution.all_ended()) {
      execution.check_rest();
      check(execution);
    } else {
      report_stuck(execution, ranks, faults);
    }
  }
}

}  // namespace partita::verification
