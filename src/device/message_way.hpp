// Whether messages of device memory go to the transport as they are, or through pinned host memory.
#pragma once

#include <partita/context.hpp>

namespace partita {

class PhysicalDevice;
class ProcessGroup;

/// Throws UnsupportedError where `direct` is wanted and the transport takes no device memory. Local.
bool messages_go_direct(DeviceMessages wanted, const PhysicalDevice& device, const ProcessGroup& group);

}  // namespace partita
