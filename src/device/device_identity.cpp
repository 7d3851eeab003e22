#include "device/device_identity.hpp"

#include "base/hash.hpp"
#include "runtime/context_state.hpp"
#include "runtime/host_identity.hpp"

namespace partita {

std::uint64_t device_identity(const ContextState& state) {
  return hash_of(host_of(state.group->place()) + " " + state.device->identity());
}

}  // namespace partita
