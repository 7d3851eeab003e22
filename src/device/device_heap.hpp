// What the symmetric heap of devices lies in.
#pragma once

#include <cstdint>
#include <string_view>

namespace partita {

struct ContextState;

enum class DeviceHeap : std::uint8_t {
  automatic,  ///< memory of the driver; NVSHMEM's where peers cannot map that; else messages
  driver,     ///< memory of the driver; else messages
  nvshmem,    ///< NVSHMEM's memory; else an error
};

/// PARTITA_DEVICE_HEAP: "driver" or "nvshmem"; unset or "automatic": chosen. Throws ArgumentError.
DeviceHeap device_heap_of_environment();

std::string_view name(DeviceHeap heap);

/// The context's heap on its devices, and the flags in it, every pair of them probed. Collective, blocking.
/// Where peers do not reach each other in any memory, each rank is a node of its own from here on.
void make_device_heap(ContextState& state, DeviceHeap wanted);

}  // namespace partita
