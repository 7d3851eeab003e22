// What the symmetric heap of devices lies in.
#pragma once

#include <partita/context.hpp>

namespace partita {

struct DeviceRuntime;

/// The context's heap on its devices, and the flags in it, every pair of them probed. Collective, blocking.
/// Where peers do not reach each other in any memory, each rank is a node of its own from here on.
void make_device_heap(DeviceRuntime& state, DeviceHeap wanted);

}  // namespace partita
