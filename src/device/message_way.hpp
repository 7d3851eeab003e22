// Whether messages of device memory go to the transport as they are, or through pinned host memory.
#pragma once

#include <cstdint>

namespace partita {

class Accelerator;
class ProcessGroup;

enum class DeviceMessages : std::uint8_t {
  automatic,  ///< direct where the transport says that it takes device memory
  staged,     ///< packed into pinned host memory
  direct,     ///< packed in the device's memory, whose addresses the transport gets
};

/// PARTITA_DEVICE_MESSAGES: "staged" or "direct"; unset or "automatic": chosen. Throws ArgumentError.
DeviceMessages device_messages_of_environment();

/// Throws UnsupportedError where `direct` is wanted and the transport takes no device memory. Local.
bool messages_go_direct(DeviceMessages wanted, const Accelerator& device, const ProcessGroup& group);

}  // namespace partita
