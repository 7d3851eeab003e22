#include "device/run_ahead.hpp"

#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/wait.hpp"

namespace partita::devices {

std::shared_ptr<RunAhead> RunAhead::of(DeviceRuntime& state) {
  if (!state.run_ahead) state.run_ahead = std::make_shared<RunAhead>(state);
  return state.run_ahead;
}

RunAhead::RunAhead(DeviceRuntime& state) : state_(state), ring_(*state.device, marks) {}

void RunAhead::wait_for_room(std::string_view operation) {
  if (given_ - done_ <= most || has_room()) return;
  const runtime::WaitReason reason{operation, [] { return std::string("what its device has to do before"); },
                                   -1, [this] { return others_of_the_node(state_); },
                                   std::chrono::milliseconds(20)};
  runtime::wait_until(state_, reason, [this] { return has_room(); });
}

bool RunAhead::has_room() {
  while (first_ <= ring_.last() && ring_.reached(first_)) {
    done_ = starts_before_[static_cast<std::size_t>(first_++ % marks)];
  }
  return given_ - done_ <= most;
}

void RunAhead::given(Stream stream, std::int64_t starts) {
  given_ += starts;
  if (given_ - marked_ < between_marks || !ring_.has_room()) return;
  starts_before_[static_cast<std::size_t>(ring_.put(stream) % marks)] = marked_ = given_;
}

}  // namespace partita::devices
