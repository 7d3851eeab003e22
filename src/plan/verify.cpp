// Runs on symbols instead of numbers, of plans that move data and compute nothing: what a step may read and
// write, and what the destination must hold at the end.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <partita/plan.hpp>

#include "base/check.hpp"
#include "plan/verify/schedule.hpp"
#include "plan/verify/slots.hpp"
#include "plan/verify/symbols.hpp"

namespace partita {
namespace verification {
namespace {

struct Problem : Plans {
  int source = 0;  ///< buffer numbers
  int destination = 1;

  const Operand& source_operand() const { return *buffer(source).operand; }
  const Operand& destination_operand() const { return *buffer(destination).operand; }
  const Shape& shape() const { return source_operand().layout.shape(); }
};

Problem ask(const Planner& planner, int source, int destination) {
  Problem problem{verification::ask(planner, std::array{source, destination}), source, destination};
  const Operand& destination_operand = problem.destination_operand();
  check(destination_operand.layout.shape() == problem.shape(),
        "source and destination differ in shape: {} and {}", to_string(problem.shape()),
        to_string(destination_operand.layout.shape()));
  check(destination_operand.dtype == problem.source_operand().dtype,
        "source and destination differ in dtype: {} and {}", name(problem.source_operand().dtype),
        name(destination_operand.dtype));
  return problem;
}

/// By rank: which contribution to its part of the layout it holds; -1: it owns nothing.
std::vector<int> held_contributions(const Layout& layout) {
  std::vector<int> result(static_cast<std::size_t>(layout.ranks()), -1);
  for (const Layout::Cell& cell : layout.cells(whole_region(layout.shape()))) {
    for (std::size_t contribution = 0; contribution < cell.contributions.size(); ++contribution) {
      for (const int rank : cell.contributions[contribution]) {
        result[static_cast<std::size_t>(rank)] = static_cast<int>(contribution);
      }
    }
  }
  return result;
}

/// For each element (row-major number) the set of all contributions that the source has of it.
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

class SymbolicExecution final : public ExecutionOn<Symbol> {
 public:
  using Execution::memory;

  /// The source holds its contributions.
  SymbolicExecution(const Problem& problem, ContributionSets& sets, Pace pace, Faults& faults)
      : ExecutionOn(problem, pace, faults), problem_(problem), sets_(sets) {
    const Layout& layout = problem_.source_operand().layout;
    const std::vector<int> held = held_contributions(layout);
    for (int rank = 0; rank < problem_.ranks(); ++rank) {
      const int contribution = held[static_cast<std::size_t>(rank)];
      if (contribution < 0) continue;
      const SetId set = sets_.of(contribution);
      const Region region = layout.region(rank);
      const std::vector<std::int64_t> slots = memory().slots({problem_.source, rank, 0, {}}, region);
      const std::vector<std::int64_t> elements = element_numbers(region, problem_.shape());
      for (std::size_t i = 0; i < slots.size(); ++i) {
        cells(rank, problem_.source).at(slots[i]) = {elements[i], set};
      }
    }
  }

 private:
  void run_local(int rank, const Step& next) override {
    check<Fault>(next.kind != StepKind::compute, "computes: only plans that move data can be verified");
    if (next.region.empty()) return;
    next.kind == StepKind::fill ? fill(rank, next) : move(rank, next);
  }

  // region: to = from, or to = reduction(to, from)
  void move(int rank, const Step& next) {
    check_access(rank, next.from);
    check_target(rank, next.to);
    if (next.kind == StepKind::accumulate) {
      check_reduction(problem_.source_operand(), next.reduction,
                      "the source is not partial: there is nothing to accumulate", "source");
    }
    const std::vector<Symbol> values = load(next.from, next.region);
    const std::vector<std::int64_t> slots = memory().slots(next.to, next.region);
    memory().check_quiet(next.to, slots, true);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (next.kind == StepKind::copy) store(next.to, slots[i], values[i]);
      if (next.kind == StepKind::accumulate) join(next.to, slots[i], values[i]);
    }
  }

  // region of `to` = identity, where this rank's contribution to a partial destination adds nothing
  void fill(int rank, const Step& next) {
    check_target(rank, next.to);
    if (next.to.buffer == problem_.destination) {
      check_reduction(problem_.destination_operand(), next.reduction,
                      "the destination is not partial, so the identity is not a valid value", "destination");
    }
    const std::vector<std::int64_t> slots = memory().slots(next.to, next.region);
    memory().check_quiet(next.to, slots, true);
    const std::vector<std::int64_t> numbers = element_numbers(next.region, problem_.shape());
    for (std::size_t i = 0; i < slots.size(); ++i) store(next.to, slots[i], {numbers[i], identity});
  }

  void check_target(int rank, const Place& place) const {
    check<Fault>(place.buffer != problem_.source, "writes the source, which is read-only");
    check_access(rank, place);
  }

  static void check_reduction(const Operand& operand, Reduction reduction, const char* why_not,
                              const char* role) {
    const std::optional<Partial> partial = operand.layout.partial();
    check<Fault>(partial.has_value(), "{}", why_not);
    check<Fault>(partial->reduction == reduction, "the {} is a partial {}, not {}", role,
                 name(partial->reduction), name(reduction));
  }

  std::string element(std::int64_t number) const {
    return fmt::format("element {}", describe_element(number, problem_.shape()));
  }

  std::string stale_text(const Place& place, std::int64_t expected, Symbol found) const {
    const std::string& buffer = problem_.buffer(place.buffer).name;
    if (found.set == unwritten) {
      return fmt::format("reads {} in {} of rank {} before anything was written there", element(expected),
                         buffer, place.rank);
    }
    return fmt::format("expects {} in {} of rank {}, found {}", element(expected), buffer, place.rank,
                       element(found.element));
  }

  std::vector<Symbol> load(const Place& place, const Region& region) const {
    const std::vector<std::int64_t> slots = memory().slots(place, region);
    memory().check_quiet(place, slots, false);
    const std::vector<std::int64_t> expected = element_numbers(region, problem_.shape());
    const Cells<Symbol>& held = cells(place.rank, place.buffer);
    std::vector<Symbol> values;
    values.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const Symbol value = held.read(slots[i]);
      if (value.set == unwritten || value.element != expected[i]) {
        throw Fault(stale_text(place, expected[i], value));
      }
      values.push_back(value);
    }
    return values;
  }

  // The texts of faults are made only where there is one: these two run for every element.
  void store(const Place& place, std::int64_t slot, Symbol value) {
    Symbol& cell = cells(place.rank, place.buffer).at(slot);
    if (place.buffer == problem_.destination && cell.set != unwritten) {
      throw Fault(fmt::format("writes {} of the destination of rank {} a second time", element(value.element),
                              place.rank));
    }
    cell = value;
  }

  void join(const Place& place, std::int64_t slot, Symbol value) {
    Symbol& cell = cells(place.rank, place.buffer).at(slot);
    if (cell.set == unwritten) {
      throw Fault(fmt::format("accumulates {} into memory that was never written", element(value.element)));
    }
    if (cell.element != value.element) {
      throw Fault(fmt::format("accumulates {} onto {}", element(value.element), element(cell.element)));
    }
    const std::optional<SetId> both = sets_.join(cell.set, value.set);
    if (!both) {
      throw Fault(fmt::format("counts {} twice: {} onto {}", element(value.element),
                              sets_.describe(value.set), sets_.describe(cell.set)));
    }
    if (!sets_.in_order(cell.set, value.set)) {
      throw Fault(fmt::format("accumulates {} out of order: {} onto {}", element(value.element),
                              sets_.describe(value.set), sets_.describe(cell.set)));
    }
    cell.set = *both;
  }

  const Problem& problem_;
  ContributionSets& sets_;
};

/// What every rank's destination has to hold: of a rank with contribution 0 (any rank, where the destination
/// is not partial) each element with all contributions of the source, of the others the identity. Where
/// source and destination are partial alike, nothing is reduced: every rank keeps its own contribution.
class Expectation {
 public:
  Expectation(const Problem& problem, ContributionSets& sets)
      : problem_(problem),
        sets_(sets),
        stays_partial_(problem.source_operand().layout.partial() &&
                       problem.source_operand().layout.equivalent(problem.destination_operand().layout)),
        held_(held_contributions(stays_partial_ ? problem.source_operand().layout
                                                : problem.destination_operand().layout)),
        values_(whole_values(problem.source_operand().layout, sets)) {}

  /// One line for each rank and kind of fault.
  void check(const SymbolicExecution& execution, Faults& faults) const {
    for (int rank = 0; rank < problem_.ranks() && !faults.full(); ++rank) {
      const int contribution = held_[static_cast<std::size_t>(rank)];
      if (contribution >= 0) check_rank(rank, contribution, execution, faults);
    }
  }

 private:
  void check_rank(int rank, int contribution, const SymbolicExecution& execution, Faults& faults) const {
    struct Wrong {
      std::int64_t first = 0;
      std::int64_t count = 0;
    };
    std::map<std::pair<SetId, SetId>, Wrong> wrong;  // (found, expected)
    const Region region = problem_.destination_operand().layout.region(rank);
    const std::vector<std::int64_t> elements = element_numbers(region, problem_.shape());
    const std::vector<std::int64_t> slots =
        execution.memory().slots({problem_.destination, rank, 0, {}}, region);
    const SetId own = stays_partial_ ? sets_.of(contribution) : identity;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const bool whole = !stays_partial_ && contribution == 0;
      const SetId wanted = whole ? values_[static_cast<std::size_t>(elements[i])] : own;
      const SetId found = execution.cells(rank, problem_.destination).read(slots[i]).set;
      if (found == wanted) continue;
      Wrong& entry = wrong[{found, wanted}];
      if (entry.count++ == 0) entry.first = elements[i];
    }
    for (const auto& [values, entry] : wrong) {
      faults.add(fmt::format("rank {}: {} of {} elements of the destination hold {} and not {}, first {}",
                             rank, entry.count, region.size(), sets_.describe(values.first),
                             sets_.describe(values.second), describe_element(entry.first, problem_.shape())));
    }
  }

  const Problem& problem_;
  ContributionSets& sets_;
  bool stays_partial_;
  std::vector<int> held_;      // by rank
  std::vector<SetId> values_;  // by element
};

}  // namespace
}  // namespace verification

using namespace verification;

Verdict verify(const Planner& planner, int source, int destination, int schedules, std::uint64_t seed) {
  const Problem problem = ask(planner, source, destination);
  Faults faults;
  check_structure(problem, faults);
  if (!faults.empty()) return {faults.lines()};
  ContributionSets sets;
  const Expectation expectation(problem, sets);
  const auto make = [&](Pace pace) {
    return std::make_unique<SymbolicExecution>(problem, sets, pace, faults);
  };
  const auto check = [&](const SymbolicExecution& execution) { expectation.check(execution, faults); };
  run_schedules(problem.ranks(), schedules, seed, faults, make, check);
  return {faults.lines()};
}

}  // namespace partita
