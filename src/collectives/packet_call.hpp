// A small call between the devices of a node, in packets.
#pragma once

#include <memory>

#include "collectives/call.hpp"
#include "collectives/runner.hpp"
#include "context/context_state.hpp"

namespace partita::collective {

/// Nothing where the call is too large or of another kind for that, on any rank. What it gives holds no share
/// of the context: whoever owns it keeps the context alive. Collective.
std::shared_ptr<Runner> packet_call(ContextState& context, const Call& call);

}  // namespace partita::collective
