#include "plan/verify/result.hpp"

#include <map>

#include "base/check.hpp"
#include "plan/verify/slots.hpp"

namespace partita::symbolic {

Expectation::Expectation(const Problem& problem, ContributionSets& sets)
    : problem_(problem),
      held_(holdings(problem.destination_operand().layout)),
      values_(whole_values(problem.source_operand().layout, sets)) {}

void Expectation::check(const Execution& execution, const ContributionSets& sets, Faults& faults) const {
  for (int rank = 0; rank < problem_.ranks() && !faults.full(); ++rank) {
    if (held_[static_cast<std::size_t>(rank)].contribution < 0) continue;
    check_rank(rank, execution.memory().cells(rank, problem_.destination), sets, faults);
  }
}

void Expectation::check_rank(int rank, const Cells& cells, const ContributionSets& sets,
                             Faults& faults) const {
  struct Wrong {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  std::map<std::pair<SetId, SetId>, Wrong> wrong;  // (found, expected)
  const bool is_first = held_[static_cast<std::size_t>(rank)].contribution == 0;
  const Region region = problem_.destination_operand().layout.region(rank);
  std::int64_t slot = 0;
  for (const std::int64_t element : element_numbers(region, problem_.shape())) {
    const SetId expected = is_first ? values_[static_cast<std::size_t>(element)] : identity;
    const SetId found = cells.read(slot++).set;
    if (found == expected) continue;
    Wrong& entry = wrong[{found, expected}];
    if (entry.count++ == 0) entry.first = element;
  }
  for (const auto& [values, entry] : wrong) {
    faults.add(fmt::format("rank {}: {} of {} elements of the destination hold {} and not {}, first {}", rank,
                           entry.count, region.size(), sets.describe(values.first),
                           sets.describe(values.second), describe_element(entry.first, problem_.shape())));
  }
}

}  // namespace partita::symbolic
