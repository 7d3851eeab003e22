// Which device a rank works on, as other ranks can tell.
#pragma once

#include <cstdint>

namespace partita {

class PhysicalDevice;
struct Runtime;

/// Of a device of this context's ranks: the same number on all ranks of a host that use that device, another
/// number everywhere else.
std::uint64_t device_identity(const Runtime& state, const PhysicalDevice& device);

}  // namespace partita
