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
  context.thread = this_thread_mark();
  live().contexts.insert(&context);
}

void forget_live_context(Runtime& context) {
  const std::lock_guard lock(live().mutex);
  live().contexts.erase(&context);
}

const void* this_thread_mark() noexcept {
  static thread_local const char mark = 0;
  return &mark;
}

void for_each_context_of_this_thread(const std::function<void(Runtime&)>& visit) {
  const std::lock_guard lock(live().mutex);
  for (Runtime* const context : live().contexts) {
    const bool is_mine = context->thread.load(std::memory_order_relaxed) == this_thread_mark();
    if (is_mine && !context->failed() && !context->closed && context->board) visit(*context);
  }
}

void leave_contexts(std::string_view how, bool at_once) noexcept {
  const std::lock_guard lock(live().mutex);
  for (Runtime* const context : live().contexts) context->leave(how, at_once);
}

}  // namespace partita::runtime
