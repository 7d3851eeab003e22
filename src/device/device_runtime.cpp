#include "device/device_runtime.hpp"

#include <utility>

#include "device/device_synchronization.hpp"
#include "device/packet_board.hpp"
#include "device/run_ahead.hpp"
#include "runtime/groups/kept_until_exit.hpp"

namespace partita::devices {

DeviceGroup* DeviceRuntime::device_group() const {
  const std::lock_guard lock(group_mutex_);
  return device_group_.get();
}

void DeviceRuntime::adopt(std::unique_ptr<DeviceGroup> vendors) {
  DeviceGroup* const adopted = vendors.get();
  {
    const std::lock_guard lock(group_mutex_);
    device_group_ = std::move(vendors);
  }
  if (adopted != nullptr && failed()) adopted->abort();
}

void DeviceRuntime::release_waits() noexcept {
  if (flags) flags->poison();
  if (DeviceGroup* const vendors = device_group()) vendors->abort();
}

void DeviceRuntime::stop_device() noexcept {
  watchdog.reset();
  try {
    if (device && !failed()) finish_device(*this, "the end of a context");
  } catch (...) {
    // noted as the failure
  }
  device_group_.reset();
}

DeviceRuntime::~DeviceRuntime() {
  if (!failed()) return;
  runtime::keep_until_exit(std::move(packets));
  runtime::keep_until_exit(std::move(run_ahead));
  runtime::keep_until_exit(std::shared_ptr<FlagBoard>(std::move(flags)));
  runtime::keep_until_exit(std::shared_ptr<memory::SymmetricHeap>(std::move(device_heap)));
  runtime::keep_until_exit(std::shared_ptr<memory::NodeMemory>(std::move(device_memory)));
  runtime::keep_until_exit(std::shared_ptr<DeviceEvent>(std::move(device_mark)));
  runtime::keep_until_exit(std::shared_ptr<Accelerator>(std::move(device)));
}

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

}  // namespace partita::devices
