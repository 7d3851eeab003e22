#include "plan/verify/memory.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "plan/verify/slots.hpp"

namespace partita::symbolic {

Symbol Cells::read(std::int64_t slot) const {
  const auto number = static_cast<std::size_t>(slot);
  const std::size_t page = number / page_size;
  return page < pages_.size() && pages_[page] ? (*pages_[page])[number % page_size] : Symbol{};
}

Symbol& Cells::at(std::int64_t slot) {
  const auto number = static_cast<std::size_t>(slot);
  const std::size_t page = number / page_size;
  if (page >= pages_.size()) pages_.resize(page + 1);
  if (!pages_[page]) pages_[page] = std::make_unique<Page>();
  return (*pages_[page])[number % page_size];
}

Memory::Memory(const Problem& problem, ContributionSets& sets)
    : problem_(problem),
      buffers_(problem.plan(0).buffers.size()),
      cells_(problem.plans.size() * buffers_),
      in_flight_(problem.plans.size()) {
  fill_source(sets);
}

void Memory::fill_source(ContributionSets& sets) {
  const Layout& layout = problem_.source_operand().layout;
  const std::vector<Holding> held = holdings(layout);
  for (int rank = 0; rank < problem_.ranks(); ++rank) {
    const int contribution = held[static_cast<std::size_t>(rank)].contribution;
    if (contribution < 0) continue;
    const SetId set = sets.of(contribution);
    std::int64_t slot = 0;
    for (const std::int64_t element : element_numbers(layout.region(rank), problem_.shape())) {
      cells(rank, problem_.source).at(slot++) = {element, set};
    }
  }
}

std::size_t Memory::number(int rank, int buffer) const {
  return static_cast<std::size_t>(rank) * buffers_ + static_cast<std::size_t>(buffer);
}

Cells& Memory::cells(int rank, int buffer) {
  return cells_[number(rank, buffer)];
}
const Cells& Memory::cells(int rank, int buffer) const {
  return cells_[number(rank, buffer)];
}

std::int64_t Memory::capacity(int rank, int buffer) const {
  return problem_.plan(rank).buffers[static_cast<std::size_t>(buffer)].bytes / problem_.item();
}

std::vector<std::int64_t> Memory::slots(const Place& place, const Region& region) const {
  const Buffer& buffer = problem_.buffer(place.buffer);
  if (!buffer.operand) {
    const std::int64_t first = place.offset / problem_.item();
    check<Fault>(first + region.size() <= capacity(place.rank, place.buffer),
                 "{} of rank {} ends before byte {}", buffer.name, place.rank,
                 place.offset + region.size() * problem_.item());
    return packed(region, place.axis_order, first);
  }
  const Region owned = buffer.operand->layout.region(place.rank);
  if (!is_inside(region, owned)) {
    throw Fault(fmt::format("rank {} does not own the region in {}: it owns {}", place.rank, buffer.name,
                            to_string(owned)));
  }
  return positions(region, owned);
}

InFlight Memory::range(const Place& place, std::int64_t bytes, bool is_receive, int step) const {
  const std::int64_t first = place.offset / problem_.item();
  const std::int64_t last = first + bytes / problem_.item();
  check<Fault>(last <= capacity(place.rank, place.buffer), "{} of rank {} ends before byte {}",
               problem_.buffer(place.buffer).name, place.rank, place.offset + bytes);
  return {place.buffer, first, last, is_receive, step};
}

void Memory::check_quiet(const Place& place, std::int64_t first, std::int64_t last, bool is_write) const {
  for (const InFlight& message : in_flight_[static_cast<std::size_t>(place.rank)]) {
    const bool conflicts = is_write || message.is_receive;
    const bool overlaps = message.buffer == place.buffer && first < message.last && message.first < last;
    check<Fault>(!conflicts || !overlaps, "{} {} of rank {} while the {} of its step {} is under way",
                 is_write ? "overwrites" : "reads", problem_.buffer(place.buffer).name, place.rank,
                 message.is_receive ? "receive" : "send", message.step);
  }
}

void Memory::check_quiet(const Place& place, const std::vector<std::int64_t>& slots, bool is_write) const {
  if (slots.empty() || problem_.buffer(place.buffer).operand) return;
  const auto [first, last] = std::minmax_element(slots.begin(), slots.end());
  check_quiet(place, *first, *last + 1, is_write);
}

void Memory::start(int rank, const InFlight& message) {
  in_flight_[static_cast<std::size_t>(rank)].push_back(message);
}

void Memory::finish(int rank, int step) {
  std::erase_if(in_flight_[static_cast<std::size_t>(rank)],
                [step](const InFlight& message) { return message.step == step; });
}

}  // namespace partita::symbolic
