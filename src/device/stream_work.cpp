#include "device/stream_work.hpp"

#include <chrono>
#include <thread>

#include "base/check.hpp"

namespace partita {

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
