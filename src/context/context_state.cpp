#include "context/context_state.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "context/device_answer.hpp"
#include "device/device_synchronization.hpp"
#include "device/start_device.hpp"
#include "kernels/host/blas_library.hpp"
#include "kernels/host/fft_planning.hpp"
#include "memory/node_places.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/withdrawal.hpp"
#include "runtime/groups/kept_until_exit.hpp"
#include "runtime/live_contexts.hpp"

namespace partita {
namespace {

void destroy(ContextState* state) {
  if (!state->home.is_here()) {
    runtime::keep_until_exit(std::shared_ptr<ContextState>(state, [](ContextState*) {}));
    return;
  }
  runtime::forget_live_context(*state);
  delete state;
}

}  // namespace

std::shared_ptr<ContextState> ContextState::make() {
  return {new ContextState, destroy};
}

void contexts::keep_for_graph(ContextState& state, Stream stream, const std::shared_ptr<void>& plan) {
  if (!state.device) return;
  stream = devices::stream_or_own(state, stream);
  if (state.device->captures(stream)) state.plans.pin(state.device->graph_of(stream), plan);
}

int ContextState::device_index(MemorySpace space) const {
  return space == MemorySpace::device && device ? device->physical().index() : -1;
}

memory::SymmetricHeap& ContextState::heap_in(MemorySpace space) const {
  if (space == MemorySpace::host) return *heap;
  check<UnsupportedError>(device_heap != nullptr,
                          "device memory: the context has no device; initialize it with Device::cuda()");
  return *device_heap;
}

ContextState::~ContextState() {
  stop_device();
  if (!failed()) {
    greetings.reset();
    unexpected.reset();  // which looks once more what has been taken
    leave(std::uncaught_exceptions() > 0 ? "has left its context by an exception"
                                         : "has left its context without closing it");
    return;
  }
  settle_failure();
  try {
    runtime::keep_until_exit(std::make_shared<contexts::PlanCache>(std::move(plans)));
    runtime::keep_until_exit(std::make_shared<contexts::Attachments>(std::move(attachments)));
  } catch (...) {
    // No memory left for the note: the plans go, as those of a context that has not failed do.
  }
  if (node_memory) node_memory->give_back_addresses();
  runtime::keep_until_exit(std::shared_ptr<memory::SymmetricHeap>(std::move(heap)));
  runtime::keep_until_exit(std::shared_ptr<memory::NodeMemory>(std::move(node_memory)));
}

void contexts::start_context(ContextState& state) {
  state.host_topology = state.topology().with_cross_memory(state.cross_memory != nullptr);
  state.plans.set_capacity(state.options.plan_cache_size);
  state.drop_plans = [&state] { return state.plans.drop_half(); };
  state.plans.set_most_bytes(state.options.plan_cache_bytes);
  // The board of the largest node, so that all ranks ask for the same.
  state.node_memory = memory::NodeMemory::create(
      state, runtime::NodeBoard::bytes(memory::most_ranks_of_a_node(state.topology())));
  const std::vector<int> neighbours = state.neighbours();
  const auto place = std::find(neighbours.begin(), neighbours.end(), state.rank());
  state.board =
      std::make_unique<runtime::NodeBoard>(state.node_memory->control(), static_cast<int>(neighbours.size()),
                                           static_cast<int>(place - neighbours.begin()));
  runtime::withdrawals_of(state).forget_signals = [&state] {
    for (std::size_t i = 0; i < state.signals_seen.size(); ++i) {
      for (int channel = 0; channel < channel_count; ++channel)
        state.signals_seen[i][static_cast<std::size_t>(channel)] =
            state.board->counter(static_cast<int>(i), channel);
    }
  };
  state.heap = std::make_unique<memory::SymmetricHeap>(
      state, *state.node_memory,
      [&state](std::string_view what, bool dropped) {
        return devices::finish_for_release(state, what, dropped);
      },
      [&state] { return state.drop_plans(); });
  devices::start_device(state);
  if (state.device)
    runtime::collectively(state, "start the device", [&] { (void)contexts::device_answer(state); });
  state.threads_hold = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
      kernels::hold_blas_threads(state.threads), kernels::hold_fft_threads(state.threads));
  runtime::note_live_context(state);
}

}  // namespace partita
