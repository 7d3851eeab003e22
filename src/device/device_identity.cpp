#include "device/device_identity.hpp"

#include "base/hash.hpp"
#include "device/physical_device.hpp"
#include "runtime/host_identity.hpp"
#include "runtime/runtime.hpp"

namespace partita {

std::uint64_t device_identity(const Runtime& state, const PhysicalDevice& device) {
  return hash_of(host_of(state.group->place()) + " " + device.identity());
}

}  // namespace partita
