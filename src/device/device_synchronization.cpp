#include "device/device_synchronization.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "device/device_runtime.hpp"
#include "runtime/board/peer_watch.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/checks/announcement.hpp"
#include "runtime/checks/node_questions.hpp"

namespace partita::devices {
namespace {

bool names_stream(const std::optional<Stream>& stream) {
  return stream && stream->given;
}

}  // namespace

std::vector<int> less_those_that_left(const DeviceRuntime& state, std::vector<int> ranks) {
  const auto left = [&](int rank) { return runtime::has_left(state, rank); };
  if (std::none_of(ranks.begin(), ranks.end(), left)) return ranks;
  const std::vector<int> late = state.flags ? state.flags->late() : std::vector<int>{};
  const auto owes = [&](int rank) {  // packets and what the device counts are no flags that the host sees
    return std::ranges::find(late, rank) != late.end() || runtime::has_executed_less(state, rank);
  };
  std::erase_if(ranks, [&](int rank) { return left(rank) && !owes(rank); });
  return ranks;
}

std::vector<int> others_of_the_node(const DeviceRuntime& state) {
  std::vector<int> ranks = state.device_topology.node_ranks(state.device_topology.node(state.rank()));
  std::erase(ranks, state.rank());
  return less_those_that_left(state, std::move(ranks));
}

std::vector<int> late_for_the_device(const DeviceRuntime& state) {
  std::vector<int> ranks = state.flags ? state.flags->late() : std::vector<int>{};
  if (state.greetings) {
    for (const int rank : state.greetings->late()) ranks.push_back(rank);
  }
  // What waits for all ranks, behind what flags show.
  const std::uint64_t of_all = static_cast<const runtime::NotesOfNodes&>(*state.notes).latest_of_all;
  for (int number = 0; number < state.board->node_ranks(); ++number) {
    if (state.board->executions(number).number() < of_all)
      ranks.push_back(state.neighbours()[static_cast<std::size_t>(number)]);
  }
  return ranks;
}

Stream stream_or_own(const DeviceRuntime& state, const std::optional<Stream>& wanted) {
  return names_stream(wanted) ? *wanted : state.device->stream();
}

Stream begin_device_work(DeviceRuntime& state, const std::optional<Stream>& wanted) {
  Accelerator& device = *state.device;
  device.use();
  if (!state.watchdog) state.watchdog = std::make_unique<Watchdog>(state);
  const Stream own = device.stream();
  const Stream stream = stream_or_own(state, wanted);
  if (device.captures(stream)) return stream;
  const bool is_own = stream.handle == own.handle;
  if (state.device_work_is_marked) {
    state.device_mark->hold(stream);
  } else if (!is_own) {
    device.order(own, stream);
  }
  if (is_own) state.device_work_is_marked = false;  // its end is the end of all
  return stream;
}

void end_device_work(DeviceRuntime& state, Stream stream) {
  Accelerator& device = *state.device;
  if (device.captures(stream)) return;
  state.device_work_is_marked = stream.handle != device.stream().handle;
  if (state.device_work_is_marked) state.device_mark->record(stream);
}

void require_not_captured(const DeviceRuntime& state, std::string_view operation,
                          const std::optional<Stream>& stream) {
  check<UnsupportedError>(!names_stream(stream) || !state.device->captures(*stream),
                          "{}: the stream is being captured into a graph", operation);
}

bool own_stream_is_captured(const DeviceRuntime& state) {
  return state.device && state.device->has_stream() && state.device->captures(state.device->stream());
}

void require_no_capture(const DeviceRuntime& state, std::string_view operation, std::string_view what) {
  check<UnsupportedError>(
      !own_stream_is_captured(state),
      "{}: {} waits for the context's own stream, which is being captured into a graph: call "
      "it before the capture, or capture a stream of your own",
      operation, what);
}

void require_apart_from_capture(const DeviceRuntime& state, std::string_view operation,
                                const std::optional<Stream>& wanted) {
  Accelerator& device = *state.device;
  if (!names_stream(wanted) || !device.has_stream()) return;
  device.use();
  const Stream own = device.stream();
  check<UnsupportedError>(
      wanted->handle == own.handle || !device.captures(own) || device.captures(*wanted),
      "{}: its stream follows the context's own stream, which is being captured into a graph, and would "
      "become "
      "part of that graph: call it before or after the capture, or capture a stream of your own",
      operation);
}

void follow(DeviceRuntime& state, std::string_view operation, const std::optional<Stream>& stream) {
  if (!names_stream(stream)) return;
  require_not_captured(state, operation, stream);
  require_apart_from_capture(state, operation, stream);
  end_device_work(state, begin_device_work(state, stream));
}

void let_follow(DeviceRuntime& state, std::string_view operation, Stream reader) {
  if (!state.device || !state.device->has_stream() || !reader.given) return;
  state.device->use();
  require_no_capture(state, operation, "the stream of the reader");
  require_not_captured(state, operation, reader);
  if (state.device_work_is_marked) {
    state.device_mark->hold(reader);
  } else {
    state.device->order(state.device->stream(), reader);
  }
}

void finish_device(DeviceRuntime& state, std::string_view operation, const std::optional<Stream>& stream) {
  if (!state.device) return;
  require_no_capture(state, operation);
  require_not_captured(state, operation, stream);
  const bool was_alive = !state.failed();  // what a failed context holds may still be read
  // Such waits are for milliseconds, and what comes next on the device waits for their end.
  const runtime::WaitReason reason{operation,
                                   [] { return std::string("work on the device"); },
                                   -1,
                                   [&] { return others_of_the_node(state); },
                                   std::chrono::milliseconds(20),
                                   runtime::WaitReason::Kind::call,
                                   [&] { return late_for_the_device(state); }};
  try {
    Accelerator& device = *state.device;
    device.use();
    if (names_stream(stream)) end_device_work(state, begin_device_work(state, stream));
    if (device.has_stream()) {
      if (!state.device_work_is_marked) state.device_mark->record(device.stream());
      runtime::wait_until(state, reason, [&] {
        if (state.greetings) state.greetings->look(operation);
        return state.device_mark->reached();
      });
      if (was_alive && state.greetings) state.greetings->resolve(operation);
    }
    if (!was_alive) return;
    state.throw_failure();  // which has let the streams go
    runtime::compare_announcements(state, operation);
  } catch (...) {
    state.fail_with_current();  // and the flags let the streams go
    throw;
  }
}

bool finish_for_release(DeviceRuntime& state, std::string_view operation, bool dropped) {
  if (!dropped) return true;
  if (own_stream_is_captured(state)) return false;
  finish_device(state, operation);
  return true;
}

void finish_device_before_memory_goes(DeviceRuntime& state, std::string_view operation) {
  try {
    finish_device(state, operation);
  } catch (...) {
    try {
      while (!state.device_mark->reached()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    } catch (const std::exception&) {
    }
    throw;
  }
}

void await_streams(DeviceRuntime& state, std::string_view operation,
                   const std::function<bool()>& done) noexcept {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + state.options.deadline;
  try {
    while (!state.failed() && !done()) {
      check<TimeoutError>(std::chrono::steady_clock::now() < end, "{}: the device does not finish",
                          operation);
      std::this_thread::sleep_for(20us);
    }
  } catch (const std::exception& error) {
    state.fail(error.what());
  }
}

}  // namespace partita::devices
