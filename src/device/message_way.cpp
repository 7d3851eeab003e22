#include "device/message_way.hpp"

#include "base/check.hpp"
#include "device/physical_device.hpp"
#include "runtime/process_group.hpp"

namespace partita {

bool messages_go_direct(DeviceMessages wanted, const PhysicalDevice& device, const ProcessGroup& group) {
  if (wanted == DeviceMessages::staged) return false;
  if (wanted == DeviceMessages::automatic) return group.takes_device_memory();
  check<UnsupportedError>(
      group.takes_device_memory() || device.is_host_memory(),
      "PARTITA_DEVICE_MESSAGES is \"direct\" (or the option device_messages), but {}; leave it "
      "unset, and messages go through pinned host memory",
      group.in_process() ? "messages between threads take no device memory"
                         : "this MPI does not say that it takes device memory (it is not "
                           "CUDA-aware, or its support is switched off: see partita doctor)");
  return true;
}

}  // namespace partita
