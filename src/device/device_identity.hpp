// Which device a rank works on, as other ranks can tell.
#pragma once

#include <cstdint>

namespace partita {

struct ContextState;

/// Of the context's device: the same number on all ranks of a host that use that device, another number
/// everywhere else.
std::uint64_t device_identity(const ContextState& state);

}  // namespace partita
