#include <algorithm>
#include <utility>
#include <vector>

#include "context/context_state.hpp"
#include "device/device_synchronization.hpp"
#include "device/start_device.hpp"
#include "kernels/host/blas_library.hpp"
#include "kernels/host/fft_planning.hpp"
#include "memory/node_places.hpp"
#include "runtime/live_contexts.hpp"

namespace partita {

void start_context(ContextState& state) {
  state.plans.set_capacity(state.options.plan_cache_size);
  // The board of the largest node, so that all ranks ask for the same.
  state.node_memory = NodeMemory::create(state, NodeBoard::bytes(most_ranks_of_a_node(state.topology())));
  const std::vector<int> neighbours = state.neighbours();
  const auto place = std::find(neighbours.begin(), neighbours.end(), state.rank());
  state.board = std::make_unique<NodeBoard>(state.node_memory->control(), static_cast<int>(neighbours.size()),
                                            static_cast<int>(place - neighbours.begin()));
  state.heap = std::make_unique<SymmetricHeap>(
      state, *state.node_memory, [&state](std::string_view what) { finish_device(state, what); });
  start_device(state);
  state.threads_hold = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
      hold_blas_threads(state.threads), hold_fft_threads(state.threads));
  note_live_context(state);
}

}  // namespace partita
