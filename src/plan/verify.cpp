#include <algorithm>
#include <partita/plan.hpp>

#include "plan/verify/result.hpp"
#include "plan/verify/schedule.hpp"

namespace partita {
namespace {

using namespace symbolic;

// Even schedules buffer sends, odd ones hold them back until the peer receives: a plan must work with both.
void run(const Problem& problem, ContributionSets& sets, const Expectation& expectation, int schedule,
         std::mt19937_64& random, Faults& faults) {
  const SendMode mode = schedule % 2 == 0 ? SendMode::buffered : SendMode::rendezvous;
  Execution execution(problem, sets, mode, faults);
  run_schedule(execution, problem.ranks(), schedule, random);
  if (!execution.all_ended()) return report_stuck(execution, problem.ranks(), faults);
  execution.check_rest();
  expectation.check(execution, sets, faults);
}

}  // namespace

Verdict verify(const Planner& planner, int source, int destination, int schedules, std::uint64_t seed) {
  const Problem problem = ask(planner, source, destination);
  Faults faults;
  check_structure(problem, faults);
  if (!faults.empty()) return {faults.lines()};
  ContributionSets sets;
  const Expectation expectation(problem, sets);
  std::mt19937_64 random(seed);
  for (int schedule = 0; schedule < std::max(schedules, 1) && !faults.full(); ++schedule) {
    run(problem, sets, expectation, schedule, random, faults);
  }
  return {faults.lines()};
}

}  // namespace partita
