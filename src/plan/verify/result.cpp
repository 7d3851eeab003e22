#include "plan/verify/result.hpp"

#include <algorithm>
#include <map>

#include "base/check.hpp"
#include "plan/verify/slots.hpp"

namespace partita::verification {

Expectation::Expectation(const Problem& problem, ContributionSets& sets)
    : problem_(problem),
      stays_partial_(problem.source_operand().layout.partial() &&
                     problem.source_operand().layout.equivalent(problem.destination_operand().layout)),
      held_(holdings(problem.destination_operand().layout)),
      values_(whole_values(problem.source_operand().layout, sets)) {
  int most = 0;
  for (const Holding& held : held_) most = std::max(most, held.contributions);
  for (int contribution = 0; contribution < most; ++contribution) {
    contributions_.push_back(sets.of(contribution));
  }
}

SetId Expectation::expected(int rank, std::int64_t element) const {
  const int contribution = held_[static_cast<std::size_t>(rank)].contribution;
  if (stays_partial_) return contributions_[static_cast<std::size_t>(contribution)];
  return contribution == 0 ? values_[static_cast<std::size_t>(element)] : identity;
}

void Expectation::check(const SymbolicExecution& execution, const ContributionSets& sets,
                        Faults& faults) const {
  for (int rank = 0; rank < problem_.ranks() && !faults.full(); ++rank) {
    if (held_[static_cast<std::size_t>(rank)].contribution < 0) continue;
    check_rank(rank, execution, sets, faults);
  }
}

void Expectation::check_rank(int rank, const SymbolicExecution& execution, const ContributionSets& sets,
                             Faults& faults) const {
  struct Wrong {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  std::map<std::pair<SetId, SetId>, Wrong> wrong;  // (found, expected)
  const Region region = problem_.destination_operand().layout.region(rank);
  const std::vector<std::int64_t> elements = element_numbers(region, problem_.shape());
  const std::vector<std::int64_t> slots =
      execution.memory().slots({problem_.destination, rank, 0, {}}, region);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const SetId wanted = expected(rank, elements[i]);
    const SetId found = execution.cells(rank, problem_.destination).read(slots[i]).set;
    if (found == wanted) continue;
    Wrong& entry = wrong[{found, wanted}];
    if (entry.count++ == 0) entry.first = elements[i];
  }
  for (const auto& [values, entry] : wrong) {
    faults.add(fmt::format("rank {}: {} of {} elements of the destination hold {} and not {}, first {}", rank,
                           entry.count, region.size(), sets.describe(values.first),
                           sets.describe(values.second), describe_element(entry.first, problem_.shape())));
  }
}

}  // namespace partita::verification
