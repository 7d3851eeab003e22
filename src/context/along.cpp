// The ranks along some axes of a mesh, kept in the context.
#include <fmt/format.h>

#include <algorithm>
#include <partita/along.hpp>
#include <vector>

#include "base/check.hpp"
#include "context/context_state.hpp"

namespace partita {
namespace {

std::string text_of_line(const std::vector<int>& ranks) {
  return fmt::format("along {}", fmt::join(ranks, ","));
}

}  // namespace

Context along(const Context& context, const Mesh& mesh, std::span<const std::string> axes) {
  check(context.state() != nullptr, "the context has been moved away");
  ContextState& state = *context.state();
  state.require_usable_here("along");
  check(mesh.rank_bound() <= state.size(), "along: the mesh needs {} ranks; the context has {}",
        mesh.rank_bound(), state.size());
  const std::vector<int> ranks = mesh.ranks_along(state.rank(), axes);
  // The same ranks in the same order are the same context, whichever mesh has named them.
  const std::string key = text_of_line(ranks);
  if (auto kept = std::static_pointer_cast<ContextState>(state.plans.find_kept(key)); kept && !kept->closed) {
    return Context(std::move(kept));
  }
  Context made = context.subgroup(ranks);
  state.plans.keep(key, made.state());
  return made;
}

}  // namespace partita
