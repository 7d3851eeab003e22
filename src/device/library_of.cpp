#include "device/library_of.hpp"

#include "device/device_runtime.hpp"

namespace partita {

DeviceGroup* library_of(DeviceRuntime& state) {
  if (!state.device_group_asked) {
    state.device_group_asked = true;
    state.adopt(state.device->make_group(state));
  }
  return state.device_group();
}

bool messages_go_in_groups(DeviceRuntime& state) {
  return state.device_topology.node_count() > 1 &&
         state.options.device_messages == DeviceMessages::automatic && library_of(state) != nullptr;
}

}  // namespace partita
