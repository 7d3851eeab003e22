#include "runtime/live_contexts.hpp"

#include <mutex>
#include <set>

#include "runtime/runtime.hpp"

namespace partita::runtime {
namespace {

struct LiveContexts {
  std::mutex mutex;
  std::set<Runtime*> contexts;
};

// Never destroyed: contexts may go in static destructors.
LiveContexts& live() {
  static auto* const instance = new LiveContexts;
  return *instance;
}

}  // namespace

void note_live_context(Runtime& context) {
  const std::lock_guard lock(live().mutex);
  live().contexts.insert(&context);
}

void forget_live_context(Runtime& context) {
  const std::lock_guard lock(live().mutex);
  live().contexts.erase(&context);
}

void leave_contexts(std::string_view how) noexcept {
  const std::lock_guard lock(live().mutex);
  for (Runtime* const context : live().contexts) context->leave(how);
}

}  // namespace partita::runtime
