// How far the host is ahead of what its device has done.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <partita/stream.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "device/event_ring.hpp"

namespace partita::devices {

struct DeviceRuntime;

/// Limits how far a host runs ahead of its device. A driver blocks the host as well, after about a thousand
/// launches on a stream, but inside a launch, where the host cannot detect failures, and with a lock that
/// prevents other threads from writing to the device: if the stream waits for a peer that never arrives,
/// nothing could end that wait. So the host waits earlier, between and within executions, within the
/// deadline. Waiting within an execution is safe: a plan whose steps are executed in order completes on all
/// ranks, and the launched steps are a prefix of it. Used by the thread that uses the context.
class RunAhead final : private LaunchGate {
 public:
  /// So many launches may be ahead of the device when an execution begins.
  static constexpr std::int64_t most = 512;
  /// Those of an execution in one stream are counted in so many.
  static constexpr std::int64_t between_marks_of_a_line = 128;
  /// So many of an execution may be ahead in one stream. A call that launches more, as a library's
  /// factorization may, begins when what precedes it is done: then it waits inside a launch only for itself.
  static constexpr std::int64_t most_of_a_line = 3 * between_marks_of_a_line;

  /// The context's.
  static std::shared_ptr<RunAhead> of(DeviceRuntime& state);
  explicit RunAhead(DeviceRuntime& state);

  /// While one lives, an execution is given to the device, outside of captures. The watchdog knows of it from
  /// its beginning.
  class Execution {
   public:
    /// Blocks while too much is ahead, within the deadline. What it throws has failed the context.
    Execution(RunAhead& ahead, std::string_view operation);
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;
    /// All of it has been given, and all other streams of it are followed by `stream`.
    void given(Stream stream);

   private:
    RunAhead& ahead_;
  };

  /// Called repeatedly while an execution waits for room: starts messages that peers may need before this
  /// rank's device can proceed. Returns whether anything was done.
  void meanwhile(std::function<bool()> work) { meanwhile_ = std::move(work); }

 private:
  static constexpr std::int64_t between_marks = 64;
  static constexpr int marks = 16;  // more than can be ahead

  /// A place in a stream, behind so many launches of an execution.
  struct Mark {
    std::unique_ptr<DeviceEvent> event;  // null: a line has never been so long
    std::int64_t launches = 0;
    bool ahead = false;  // it is not known to be reached
  };
  /// What one stream has been given in an execution.
  struct Line {
    void* stream = nullptr;
    std::int64_t launches = 0, done = 0;
    Mark older, newer;
  };

  void begin(std::string_view operation);
  void end() noexcept;
  void launching(Stream stream, int launches) override;
  Line& line_of(Stream stream);
  void mark(Line& line, Stream stream);
  void reach(Line& line, Mark& mark);
  bool has_room();
  template <class Ready>
  void wait(const Ready& ready);

  DeviceRuntime& state_;
  EventRing ring_;
  std::array<std::int64_t, marks> starts_before_{};  // by milestone
  std::int64_t first_ = 1;                           // milestone that is not known to be reached
  std::int64_t given_ = 0;                           // launches, of all times
  std::int64_t marked_ = 0;                          // of those
  std::int64_t done_ = 0;                            // of those, as far as it is known
  std::string operation_;                            // of this execution, as
  std::vector<Line> lines_;                          // these, of which
  std::size_t used_lines_ = 0;                       // so many are in use
  std::function<bool()> meanwhile_;
};

}  // namespace partita::devices
