#include "runtime/live_contexts.hpp"

#include <mutex>
#include <set>

#include "runtime/context_state.hpp"
#include "runtime/keeper.hpp"

namespace partita {
namespace {

struct LiveContexts {
  std::mutex mutex;
  std::set<ContextState*> states;
};

// Never destroyed: contexts may go in static destructors.
LiveContexts& live() {
  static auto* const instance = new LiveContexts;
  return *instance;
}

void destroy(ContextState* state) {
  if (!state->home.is_here()) {
    keep_until_exit(std::shared_ptr<ContextState>(state, [](ContextState*) {}));
    return;
  }
  {
    const std::lock_guard lock(live().mutex);
    live().states.erase(state);
  }
  delete state;
}

}  // namespace

std::shared_ptr<ContextState> make_context_state() {
  return {new ContextState, destroy};
}

void note_live_context(ContextState& state) {
  const std::lock_guard lock(live().mutex);
  live().states.insert(&state);
}

void leave_contexts(std::string_view how) noexcept {
  const std::lock_guard lock(live().mutex);
  for (ContextState* const state : live().states) state->leave(how);
}

}  // namespace partita
