#include "device/finish.hpp"

#include "runtime/context_state.hpp"
#include "runtime/wait.hpp"

namespace partita {
namespace {

std::vector<int> others_of_the_node(const ContextState& state) {
  std::vector<int> ranks = state.device_topology.node_ranks(state.device_topology.node(state.rank()));
  std::erase(ranks, state.rank());
  return ranks;
}

}  // namespace

Stream begin_device_work(ContextState& state, Stream wanted) {
  Accelerator& device = *state.device;
  device.use();
  const Stream own = device.stream();
  const Stream stream = wanted.handle == nullptr ? own : wanted;
  const Stream last = state.last_stream.handle == nullptr ? own : state.last_stream;
  if (last.handle != stream.handle) device.order(last, stream);
  state.last_stream = stream;
  return stream;
}

void finish_device(ContextState& state, std::string_view operation, const std::function<void()>& look) {
  if (!state.device) return;
  const WaitReason reason{operation, [] { return std::string("work on the device"); }, -1,
                          [&] { return others_of_the_node(state); }};
  try {
    Accelerator& device = *state.device;
    device.use();
    device.mark(state.last_stream.handle == nullptr ? device.stream() : state.last_stream);
    wait_until(state, reason, [&] {
      if (device.passed()) return true;
      if (look) look();
      return false;
    });
  } catch (const std::exception& error) {
    state.fail(error.what());  // and the flags let the streams go
    throw;
  }
}

}  // namespace partita
