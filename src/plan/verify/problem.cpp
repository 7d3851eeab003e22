#include "plan/verify/problem.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.hpp"
#include "plan/verify/slots.hpp"

namespace partita::verification {

Region whole_region(const Shape& shape) {
  Region region;
  for (const std::int64_t extent : shape) region.sets.push_back(IndexSet::range(0, extent));
  return region;
}

std::int64_t Plans::item(int number) const {
  const auto dtype = [](const Buffer& one) { return one.operand ? one.operand->dtype : one.dtype; };
  if (const auto own = dtype(buffer(number))) return size_of(*own);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Buffer& other : plans.front().buffers) {
    if (const auto theirs = dtype(other)) least = std::min(least, size_of(*theirs));
  }
  return least;
}

std::vector<Holding> holdings(const Layout& layout) {
  std::vector<Holding> result(static_cast<std::size_t>(layout.ranks()));
  for (const Layout::Cell& cell : layout.cells(whole_region(layout.shape()))) {
    const auto count = static_cast<int>(cell.contributions.size());
    for (int contribution = 0; contribution < count; ++contribution) {
      for (const int rank : cell.contributions[static_cast<std::size_t>(contribution)]) {
        result[static_cast<std::size_t>(rank)] = {contribution, count};
      }
    }
  }
  return result;
}

std::vector<SetId> whole_values(const Layout& source, ContributionSets& sets) {
  std::vector<SetId> result(static_cast<std::size_t>(volume(source.shape())), unwritten);
  for (const Layout::Cell& cell : source.cells(whole_region(source.shape()))) {
    const SetId all = sets.first(static_cast<int>(cell.contributions.size()));
    for (const std::int64_t number : element_numbers(cell.region, source.shape())) {
      result[static_cast<std::size_t>(number)] = all;
    }
  }
  return result;
}

Plans ask(const Planner& planner, std::span<const int> operands) {
  check(static_cast<bool>(planner), "verify needs a planner");
  Plans plans{{planner(0)}};
  const int ranks = plans.plan(0).topology.ranks();
  for (int rank = 1; rank < ranks; ++rank) plans.plans.push_back(planner(rank));
  const auto buffers = static_cast<int>(plans.plan(0).buffers.size());
  for (const int number : operands) {
    check(number >= 0 && number < buffers && plans.buffer(number).operand.has_value(),
          "buffer {} of the plans is not an operand", number);
    check(plans.buffer(number).operand->layout.ranks() == ranks,
          "the operand {} is not bound to the {} ranks of the plans",
          plans.buffer(number).operand->to_string(), ranks);
  }
  return plans;
}

Problem ask(const Planner& planner, int source, int destination) {
  Problem problem{ask(planner, std::array{source, destination}), source, destination};
  const Operand& destination_operand = problem.destination_operand();
  check(destination_operand.layout.shape() == problem.shape(),
        "source and destination differ in shape: {} and {}", to_string(problem.shape()),
        to_string(destination_operand.layout.shape()));
  check(destination_operand.dtype == problem.source_operand().dtype,
        "source and destination differ in dtype: {} and {}", name(problem.source_operand().dtype),
        name(destination_operand.dtype));
  return problem;
}

}  // namespace partita::verification
