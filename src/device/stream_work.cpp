#include "device/stream_work.hpp"

#include <chrono>
#include <thread>

#include "base/check.hpp"

namespace partita {

bool captures_flags(DeviceRuntime& state, std::string_view operation, Stream wanted, bool has_messages) {
  state.device->use();
  if (!state.device->captures(stream_or_own(state, wanted))) return false;
  // The same on every rank: where there are nodes, some rank has messages.
  check<UnsupportedError>(
      state.device_topology.node_count() == 1 && !has_messages,
      "{}: between nodes it is done by messages, and those cannot be captured into a graph", operation);
  state.flags->count_on_device();
  return true;
}

void await_streams(DeviceRuntime& state, std::string_view operation,
                   const std::function<bool()>& done) noexcept {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + state.options.deadline;
  try {
    while (!state.failed() && !done()) {
      check<TimeoutError>(std::chrono::steady_clock::now() < end, "{}: the device does not come to its end",
                          operation);
      std::this_thread::sleep_for(20us);
    }
  } catch (const std::exception& error) {
    state.fail(error.what());
  }
}

}  // namespace partita
