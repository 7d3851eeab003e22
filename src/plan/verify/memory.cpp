#include "plan/verify/memory.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "plan/verify/slots.hpp"

namespace partita::verification {

std::int64_t Memory::capacity(int rank, int buffer) const {
  return plans_.plan(rank).buffers[static_cast<std::size_t>(buffer)].bytes / plans_.item(buffer);
}

std::vector<std::int64_t> Memory::slots(const Place& place, const Region& region, std::int64_t item) const {
  const Buffer& buffer = plans_.buffer(place.buffer);
  if (!buffer.operand) {
    const std::int64_t unit = plans_.item(place.buffer), first = place.offset / unit;
    const std::int64_t step = std::max<std::int64_t>(item / unit, 1);
    check<Fault>(first + region.size() * step <= capacity(place.rank, place.buffer),
                 "{} of rank {} ends before byte {}", buffer.name, place.rank,
                 place.offset + region.size() * step * unit);
    return packed(region, place.axis_order, first, step);
  }
  Operand dense = *buffer.operand;
  dense.dense = true;
  const Region owned = dense.layout.region(place.rank);
  if (!is_inside(region, owned)) {
    throw Fault(fmt::format("rank {} does not own the region in {}: it owns {}", place.rank, buffer.name,
                            to_string(owned)));
  }
  return positions(region, owned, dense.local_strides(place.rank));
}

InFlight Memory::range(const Place& place, std::int64_t bytes, bool is_receive, int step) const {
  const std::int64_t item = plans_.item(place.buffer);
  const std::int64_t first = place.offset / item, last = first + bytes / item;
  check<Fault>(last <= capacity(place.rank, place.buffer), "{} of rank {} ends before byte {}",
               plans_.buffer(place.buffer).name, place.rank, place.offset + bytes);
  return {place.buffer, first, last, is_receive, step};
}

void Memory::check_quiet(const Place& place, std::int64_t first, std::int64_t last, bool is_write) const {
  for (const InFlight& message : in_flight_[static_cast<std::size_t>(place.rank)]) {
    const bool conflicts = is_write || message.is_receive;
    const bool overlaps = message.buffer == place.buffer && first < message.last && message.first < last;
    check<Fault>(!conflicts || !overlaps, "{} {} of rank {} while the {} of its step {} is under way",
                 is_write ? "overwrites" : "reads", plans_.buffer(place.buffer).name, place.rank,
                 message.is_receive ? "receive" : "send", message.step);
  }
}

void Memory::check_quiet(const Place& place, const std::vector<std::int64_t>& slots, bool is_write) const {
  if (slots.empty() || plans_.buffer(place.buffer).operand) return;
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

}  // namespace partita::verification
