#include "context/start_context.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "context/context_state.hpp"
#include "device/finish.hpp"
#include "device/start_device.hpp"
#include "kernels/host/blas_library.hpp"
#include "kernels/host/fft_planning.hpp"
#include "runtime/live_contexts.hpp"

namespace partita {

namespace {

// The board of the largest node, so that all ranks ask for the same.
int most_ranks_of_a_node(const Topology& topology) {
  std::vector<int> counts(static_cast<std::size_t>(topology.node_count()));
  for (int rank = 0; rank < topology.ranks(); ++rank) ++counts[static_cast<std::size_t>(topology.node(rank))];
  return *std::max_element(counts.begin(), counts.end());
}

}  // namespace

void start_context(ContextState& state) {
  state.plans.set_capacity(state.options.plan_cache_size);
  state.node_memory = NodeMemory::create(state, NodeBoard::bytes(most_ranks_of_a_node(state.topology())));
  const std::vector<int> neighbours = state.topology().node_ranks(state.topology().node(state.rank()));
  const auto place = std::find(neighbours.begin(), neighbours.end(), state.rank());
  state.board = std::make_unique<NodeBoard>(state.node_memory->control(), static_cast<int>(neighbours.size()),
                                            static_cast<int>(place - neighbours.begin()));
  state.heap = SymmetricHeap::create(state, *state.node_memory,
                                     [&state](std::string_view what) { finish_device(state, what); });
  start_device(state);
  state.threads_hold = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
      hold_blas_threads(state.threads), hold_fft_threads(state.threads));
  note_live_context(state);
}

}  // namespace partita
