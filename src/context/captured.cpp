#include "context/captured.hpp"

#include "context/context_state.hpp"
#include "device/finish.hpp"

namespace partita {

void keep_for_graph(ContextState& state, Stream stream, const std::shared_ptr<void>& plan) {
  if (!state.device) return;
  stream = stream_or_own(state, stream);
  if (state.device->captures(stream)) state.plans.pin(state.device->graph_of(stream), plan);
}

}  // namespace partita
