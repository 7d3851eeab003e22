#include "device/device_runtime.hpp"

#include <utility>

#include "device/device_synchronization.hpp"
#include "device/packet_board.hpp"
#include "device/run_ahead.hpp"
#include "runtime/keeper.hpp"

namespace partita {

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
  keep_until_exit(std::move(packets));
  keep_until_exit(std::move(run_ahead));
  keep_until_exit(std::shared_ptr<FlagBoard>(std::move(flags)));
  keep_until_exit(std::shared_ptr<SymmetricHeap>(std::move(device_heap)));
  keep_until_exit(std::shared_ptr<NodeMemory>(std::move(device_memory)));
  keep_until_exit(std::shared_ptr<DeviceEvent>(std::move(device_mark)));
  keep_until_exit(std::shared_ptr<Accelerator>(std::move(device)));
}

}  // namespace partita
