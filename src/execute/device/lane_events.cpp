#include "execute/device/lane_events.hpp"

#include <algorithm>

namespace partita::execution {

LaneEvents::LaneEvents(devices::DeviceQueues& device, std::array<planning::Dependencies, 2> orders,
                       std::span<const int> lanes, int streams)
    : device_(device), orders_(std::move(orders)), events_(lanes.size()) {
  for (const planning::Dependencies& order : orders_) {
    for (const std::vector<int>& after : order.after) {
      for (const int before : after) {
        const auto step = static_cast<std::size_t>(before);
        if (lanes[step] < streams && !events_[step]) events_[step] = device.event();
      }
    }
  }
}

void LaneEvents::hold(std::size_t step, Stream stream) {
  for (const int before : after(step)) {
    const auto& event = events_[static_cast<std::size_t>(before)];
    if (!event) continue;
    device_.launching(stream);
    event->hold(stream);
  }
}

void LaneEvents::record(std::size_t step, Stream stream) {
  if (!events_[step]) return;
  device_.launching(stream);
  events_[step]->record(stream);
}

bool LaneEvents::reached(std::size_t step) {
  return std::ranges::all_of(after(step), [this](int before) {
    const auto& event = events_[static_cast<std::size_t>(before)];
    return !event || event->reached();
  });
}

}  // namespace partita::execution
