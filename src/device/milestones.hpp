// How far a stream has come, as the host sees it.
#pragma once

#include <cstdint>
#include <vector>

#include "device/accelerator.hpp"

namespace partita {

/// Marks put into one stream after the other's work, numbered from 1 on; a later one is never reached before
/// an earlier one, so `stream` must be the same, or follow the one before. Allocates nothing once it is made.
class Milestones {
 public:
  /// At most `most` marks are ahead of the stream at a time.
  Milestones(Accelerator& device, int most) : device_(device) {
    for (int i = 0; i < most; ++i) events_.push_back(device.event());
  }
  ~Milestones() {
    for (const int event : events_) device_.release_event(event);
  }
  Milestones(const Milestones&) = delete;
  Milestones& operator=(const Milestones&) = delete;

  /// There is room for one more mark.
  bool has_room() { return reached(last_ + 1 - size()); }
  /// Behind what `stream` has been given. Needs room. Its number.
  std::int64_t put(Stream stream) {
    device_.record(event_of(last_ + 1), stream);
    return ++last_;
  }
  std::int64_t last() const { return last_; }  ///< 0: none yet, which is reached
  bool reached(std::int64_t number) {
    if (number > reached_ && device_.reached(event_of(number))) reached_ = number;
    return number <= reached_;
  }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(events_.size()); }
  int event_of(std::int64_t number) const { return events_[static_cast<std::size_t>(number % size())]; }

  Accelerator& device_;
  std::vector<int> events_;
  std::int64_t last_ = 0;
  std::int64_t reached_ = 0;
};

}  // namespace partita
