// Plans of one-line calls, made together and kept within the context's bounds.
#pragma once

#include <memory>
#include <partita/error.hpp>
#include <utility>

#include "context/context_state.hpp"

namespace partita::contexts {

/// Frees what all ranks have dropped. Collective, blocking.
void collect_memory(ContextState& context);

/// What `body` returns. Where it ends in a MemoryError, the less recently used half of the kept plans is
/// dropped and it runs again, until it succeeds or no plan is left. `body` is collective and throws the same
/// MemoryError on all ranks, which keep the same plans.
template <class Body>
auto with_room(ContextState& context, const Body& body) {
  for (;;) {
    try {
      return body();
    } catch (const MemoryError&) {
      if (context.failed() || !context.plans.drop_half()) throw;
    }
    collect_memory(context);
  }
}

/// Bytes that this rank has allocated for plans so far; differences count.
std::int64_t bytes_allocated(const ContextState& context);
/// The largest of all ranks. Collective, blocking.
std::int64_t largest_bytes(ContextState& context, std::int64_t bytes);

/// What `make` gives, and how many bytes it has allocated on the rank where that is most. Collective, as
/// `make` is; blocking.
template <class Make>
auto make_counted(ContextState& context, const Make& make) {
  const std::int64_t before = bytes_allocated(context);
  auto made = make();
  return std::pair{std::move(made), largest_bytes(context, bytes_allocated(context) - before)};
}

/// What `make` gives, kept under a key that no plan has. Collective, as `make` is; blocking.
template <class Make>
auto make_kept(ContextState& context, const PlanKey& key, const Make& make) {
  context.plans.make_room();
  auto [made, bytes] = make_counted(context, [&] { return with_room(context, make); });
  context.plans.insert(key, made, bytes);
  return made;
}

/// The plan of that key, made where there is none. Collective where it is made; else local.
template <class Plan, class Make>
std::shared_ptr<Plan> kept_plan(ContextState& context, const PlanKey& key, const Make& make) {
  if (const auto found = context.plans.find(key)) return std::static_pointer_cast<Plan>(found);
  return make_kept(context, key, make);
}

}  // namespace partita::contexts
