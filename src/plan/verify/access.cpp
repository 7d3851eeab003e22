// What a step may read and write.
#include "base/check.hpp"
#include "plan/verify/execution.hpp"
#include "plan/verify/slots.hpp"

namespace partita::symbolic {

std::string Execution::element(std::int64_t number) const {
  return fmt::format("element {}", describe_element(number, problem_.shape()));
}

// Memory of another rank: on the same node, where peers can reach it, and while that rank is inside its plan,
// since before and after its owner may do with it what it likes.
void Execution::check_access(int rank, const Place& place, bool is_write) const {
  const Buffer& buffer = problem_.buffer(place.buffer);
  check<Fault>(!is_write || place.buffer != problem_.source, "writes the source, which is only read");
  if (place.rank == rank) return;
  check<Fault>(problem_.plan(rank).topology.same_node(rank, place.rank), "rank {} is on another node",
               place.rank);
  check<Fault>(buffer.kind != BufferKind::scratch, "{} is private to its rank", buffer.name);
  if (buffer.operand) {
    check<Fault>(buffer.operand->residency == Residency::heap && buffer.operand->dense,
                 "{} of rank {} cannot be reached in place: it is not dense on the symmetric heap",
                 buffer.name, place.rank);
  }
  const Progress& peer = progress_[static_cast<std::size_t>(place.rank)];
  check<Fault>(peer.began, "rank {} may not have begun its plan yet: it has granted nothing", place.rank);
  check<Fault>(!ended(place.rank), "rank {} may have ended its plan already: its grant is over", place.rank);
}

std::string Execution::stale_text(const Place& place, std::int64_t expected, Symbol found) const {
  const std::string& buffer = problem_.buffer(place.buffer).name;
  if (found.set == unwritten) {
    return fmt::format("reads {} in {} of rank {} before anything was written there", element(expected),
                       buffer, place.rank);
  }
  return fmt::format("expects {} in {} of rank {}, where {} lies", element(expected), buffer, place.rank,
                     element(found.element));
}

std::vector<Symbol> Execution::load(const Place& place, const Region& region) const {
  const std::vector<std::int64_t> slots = memory_.slots(place, region);
  memory_.check_quiet(place, slots, false);
  const std::vector<std::int64_t> expected = element_numbers(region, problem_.shape());
  const Cells& cells = memory_.cells(place.rank, place.buffer);
  std::vector<Symbol> values;
  values.reserve(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Symbol value = cells.read(slots[i]);
    if (value.set == unwritten || value.element != expected[i]) {
      throw Fault(stale_text(place, expected[i], value));
    }
    values.push_back(value);
  }
  return values;
}

// The texts of faults are made only where there is one: these two run for every element.
void Execution::store(const Place& place, std::int64_t slot, Symbol value) {
  Symbol& cell = memory_.cells(place.rank, place.buffer).at(slot);
  if (place.buffer == problem_.destination && cell.set != unwritten) {
    throw Fault(fmt::format("writes {} of the destination of rank {} a second time", element(value.element),
                            place.rank));
  }
  cell = value;
}

void Execution::join(const Place& place, std::int64_t slot, Symbol value) {
  Symbol& cell = memory_.cells(place.rank, place.buffer).at(slot);
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

void Execution::check_reduction(Reduction reduction) const {
  const std::optional<Partial> partial = problem_.source_operand().layout.partial();
  check<Fault>(partial.has_value(), "the source is not partial: there is nothing to accumulate");
  check<Fault>(partial->reduction == reduction, "the source is a partial {}, not {}",
               name(partial->reduction), name(reduction));
}

// region of `to` = identity, where this rank's contribution to a partial destination adds nothing
void Execution::fill(int rank, const Step& next) {
  if (next.region.empty()) return;
  check_access(rank, next.to, true);
  if (next.to.buffer == problem_.destination) {
    const Layout& layout = problem_.destination_operand().layout;
    const std::optional<Partial> partial = layout.partial();
    check<Fault>(partial.has_value(), "the destination is not partial: the identity is no value of it");
    check<Fault>(partial->reduction == next.reduction, "the destination is a partial {}, not {}",
                 name(partial->reduction), name(next.reduction));
  }
  const std::vector<std::int64_t> slots = memory_.slots(next.to, next.region);
  memory_.check_quiet(next.to, slots, true);
  const std::vector<std::int64_t> numbers = element_numbers(next.region, problem_.shape());
  for (std::size_t i = 0; i < slots.size(); ++i) store(next.to, slots[i], {numbers[i], identity});
}

}  // namespace partita::symbolic
