// What a device answers its host.
#pragma once

#include "context/context_state.hpp"

namespace partita::contexts {

/// 16 bytes of pinned host memory into which the context's device writes a result that the host waits for:
/// it reads them after `finish_device`, where a copy from the device's memory would be a second wait. Made
/// with the context, since a driver may wait for its device when it pins memory. The context has a device.
void* device_answer(ContextState& state);

}  // namespace partita::contexts
