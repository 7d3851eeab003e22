// Whether messages of device memory go to the transport as they are, or through pinned host memory.
#pragma once

#include <partita/context.hpp>

namespace partita {

class Accelerator;
class ProcessGroup;

/// Throws UnsupportedError where `direct` is wanted and the transport takes no device memory. Local.
bool messages_go_direct(DeviceMessages wanted, const Accelerator& device, const ProcessGroup& group);

}  // namespace partita
