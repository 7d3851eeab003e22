#include "device/captured.hpp"

#include "base/check.hpp"
#include "device/finish.hpp"
#include "runtime/context_state.hpp"

namespace partita {

void keep_for_graph(ContextState& state, Stream stream, const std::shared_ptr<void>& plan) {
  if (!state.device) return;
  stream = stream_or_own(state, stream);
  if (state.device->captures(stream)) state.plans.pin(state.device->graph_of(stream), plan);
}

void require_no_capture(const ContextState& state, std::string_view operation, std::string_view what) {
  check<UnsupportedError>(
      !state.device || !state.device->captures(state.device->stream()),
      "{}: {} waits for the context's own stream, which is being captured into a graph: do "
      "it before the capture, or capture a stream of your own",
      operation, what);
}

}  // namespace partita
