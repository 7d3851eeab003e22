// How far a stream has come, as the host sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/device_queues.hpp"

namespace partita::devices {

/// Marks put into one stream after the other's work, numbered from 1 on; a later one is never reached before
/// an earlier one, so `stream` must be the same, or follow the one before. Allocates nothing once it is made.
class EventRing {
 public:
  /// At most `most` marks are ahead of the stream at a time.
  EventRing(DeviceQueues& device, int most) {
    for (int i = 0; i < most; ++i) events_.push_back(device.event());
  }

  /// There is room for one more mark.
  bool has_room() { return reached(last_ + 1 - size()); }
  /// Behind what `stream` has been given. Needs room. Its number.
  std::int64_t put(Stream stream) {
    event_of(last_ + 1).record(stream);
    return ++last_;
  }
  std::int64_t last() const { return last_; }  ///< 0: none yet, which is reached
  bool reached(std::int64_t number) {
    if (number > reached_ && event_of(number).reached()) reached_ = number;
    return number <= reached_;
  }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(events_.size()); }
  DeviceEvent& event_of(std::int64_t number) { return *events_[static_cast<std::size_t>(number % size())]; }

  std::vector<std::unique_ptr<DeviceEvent>> events_;
  std::int64_t last_ = 0;
  std::int64_t reached_ = 0;
};

}  // namespace partita::devices
