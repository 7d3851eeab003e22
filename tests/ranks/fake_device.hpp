// Devices without a device: their memory is host memory, their streams are threads. What runs on them is all
// of the library's code for devices but the calls of a vendor's runtime.
#pragma once

#include "device/accelerator.hpp"

namespace partita::testing {

/// Fewer than most runs have ranks: some share one.
inline constexpr int usual_fake_devices = 2;

/// From here on the process has so many fake devices.
void install_fake_devices(int count);

/// Whether contexts made from here on find that they cannot map their peers' memory.
void refuse_fake_peers(bool refuse);

/// Whether fake devices know a library with a symmetric heap from here on.
void give_fake_nvshmem(bool give);

/// Whether contexts made from here on find a vendor's library of collectives, which moves nothing.
void give_fake_library(bool give);

/// Whether fake devices say from here on that their memory is no host memory.
void fake_memory_is_separate(bool separate);

}  // namespace partita::testing
