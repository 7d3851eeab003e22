#include <memory>
#include <partita/plan.hpp>

#include "plan/verify/result.hpp"
#include "plan/verify/schedule.hpp"

namespace partita {

using namespace verification;

Verdict verify(const Planner& planner, int source, int destination, int schedules, std::uint64_t seed) {
  const Problem problem = ask(planner, source, destination);
  Faults faults;
  check_structure(problem, faults);
  if (!faults.empty()) return {faults.lines()};
  ContributionSets sets;
  const Expectation expectation(problem, sets);
  const auto make = [&](SendMode mode) {
    return std::make_unique<SymbolicExecution>(problem, sets, mode, faults);
  };
  const auto check = [&](const SymbolicExecution& execution) { expectation.check(execution, sets, faults); };
  run_schedules(problem.ranks(), schedules, seed, faults, make, check);
  return {faults.lines()};
}

}  // namespace partita
