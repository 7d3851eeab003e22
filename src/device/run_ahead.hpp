// How far the host is ahead of what its device has done.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <partita/stream.hpp>
#include <string_view>

#include "device/event_ring.hpp"

namespace partita::devices {

struct DeviceRuntime;

/// Holds a host up in time that gives its device work without end. A driver holds it up as well, after about
/// a thousand starts in a stream: but inside of a start, where the host looks for no failure, and with a lock
/// that keeps other threads from writing to the device. If what the stream waits for never comes, nobody
/// could end that wait. Used by the thread that uses the context.
class RunAhead {
 public:
  /// So many starts and those of one execution more may be ahead of the device.
  static constexpr std::int64_t most = 512;

  /// The context's.
  static std::shared_ptr<RunAhead> of(DeviceRuntime& state);
  explicit RunAhead(DeviceRuntime& state);

  /// Before an execution is given, outside of captures: blocks while too much is ahead, within the deadline.
  /// What it throws has failed the context.
  void wait_for_room(std::string_view operation);
  /// An execution has been given to `stream`, about so many starts. Streams follow one another.
  void given(Stream stream, std::int64_t starts);

 private:
  static constexpr std::int64_t between_marks = 64;
  static constexpr int marks = 16;  // more than can be ahead
  bool has_room();

  DeviceRuntime& state_;
  EventRing ring_;
  std::array<std::int64_t, marks> starts_before_{};  // by milestone
  std::int64_t first_ = 1;                           // milestone that is not known to be reached
  std::int64_t given_ = 0;                           // starts, of all times
  std::int64_t marked_ = 0;                          // of those
  std::int64_t done_ = 0;                            // of those, as far as it is known
};

}  // namespace partita::devices
