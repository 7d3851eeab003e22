// What a step may read and write, in symbols.
#include "plan/verify/symbolic_execution.hpp"

#include "base/check.hpp"
#include "plan/verify/slots.hpp"

namespace partita::verification {

SymbolicExecution::SymbolicExecution(const Problem& problem, ContributionSets& sets, SendMode mode,
                                     Faults& faults)
    : ExecutionOn(problem, mode, faults), problem_(problem), sets_(sets) {
  const Layout& layout = problem_.source_operand().layout;
  const std::vector<Holding> held = holdings(layout);
  for (int rank = 0; rank < problem_.ranks(); ++rank) {
    const int contribution = held[static_cast<std::size_t>(rank)].contribution;
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

std::string SymbolicExecution::element(std::int64_t number) const {
  return fmt::format("element {}", describe_element(number, problem_.shape()));
}

void SymbolicExecution::run_local(int rank, const Step& next) {
  check<Fault>(next.kind != StepKind::compute, "computes: only what moves data can be verified");
  if (next.region.empty()) return;
  next.kind == StepKind::fill ? fill(rank, next) : move(rank, next);
}

// region: to = from, or to = reduction(to, from)
void SymbolicExecution::move(int rank, const Step& next) {
  check_access(rank, next.from);
  check_target(rank, next.to);
  if (next.kind == StepKind::accumulate) check_reduction(next.reduction);
  const std::vector<Symbol> values = load(next.from, next.region);
  const std::vector<std::int64_t> slots = memory().slots(next.to, next.region);
  memory().check_quiet(next.to, slots, true);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (next.kind == StepKind::copy) store(next.to, slots[i], values[i]);
    if (next.kind == StepKind::accumulate) join(next.to, slots[i], values[i]);
  }
}

void SymbolicExecution::check_target(int rank, const Place& place) const {
  check<Fault>(place.buffer != problem_.source, "writes the source, which is only read");
  check_access(rank, place);
}

std::string SymbolicExecution::stale_text(const Place& place, std::int64_t expected, Symbol found) const {
  const std::string& buffer = problem_.buffer(place.buffer).name;
  if (found.set == unwritten) {
    return fmt::format("reads {} in {} of rank {} before anything was written there", element(expected),
                       buffer, place.rank);
  }
  return fmt::format("expects {} in {} of rank {}, where {} lies", element(expected), buffer, place.rank,
                     element(found.element));
}

std::vector<Symbol> SymbolicExecution::load(const Place& place, const Region& region) const {
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
void SymbolicExecution::store(const Place& place, std::int64_t slot, Symbol value) {
  Symbol& cell = cells(place.rank, place.buffer).at(slot);
  if (place.buffer == problem_.destination && cell.set != unwritten) {
    throw Fault(fmt::format("writes {} of the destination of rank {} a second time", element(value.element),
                            place.rank));
  }
  cell = value;
}

void SymbolicExecution::join(const Place& place, std::int64_t slot, Symbol value) {
  Symbol& cell = cells(place.rank, place.buffer).at(slot);
  if (cell.set == unwritten) {
    throw Fault(fmt::format("accumulates {} onto what was never written", element(value.element)));
  }
  if (cell.element != value.element) {
    throw Fault(fmt::format("accumulates {} onto {}", element(value.element), element(cell.element)));
  }
  const std::optional<SetId> both = sets_.join(cell.set, value.set);
  if (!both) {
    throw Fault(fmt::format("counts {} twice: {} onto {}", element(value.element), sets_.describe(value.set),
                            sets_.describe(cell.set)));
  }
  cell.set = *both;
}

void SymbolicExecution::check_reduction(Reduction reduction) const {
  const std::optional<Partial> partial = problem_.source_operand().layout.partial();
  check<Fault>(partial.has_value(), "the source is not partial: there is nothing to accumulate");
  check<Fault>(partial->reduction == reduction, "the source is a partial {}, not {}",
               name(partial->reduction), name(reduction));
}

// region of `to` = identity, where this rank's contribution to a partial destination adds nothing
void SymbolicExecution::fill(int rank, const Step& next) {
  check_target(rank, next.to);
  if (next.to.buffer == problem_.destination) {
    const Layout& layout = problem_.destination_operand().layout;
    const std::optional<Partial> partial = layout.partial();
    check<Fault>(partial.has_value(), "the destination is not partial: the identity is no value of it");
    check<Fault>(partial->reduction == next.reduction, "the destination is a partial {}, not {}",
                 name(partial->reduction), name(next.reduction));
  }
  const std::vector<std::int64_t> slots = memory().slots(next.to, next.region);
  memory().check_quiet(next.to, slots, true);
  const std::vector<std::int64_t> numbers = element_numbers(next.region, problem_.shape());
  for (std::size_t i = 0; i < slots.size(); ++i) store(next.to, slots[i], {numbers[i], identity});
}

}  // namespace partita::verification
