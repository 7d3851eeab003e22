// The ranks along some axes of a mesh, kept in the context.
#include <map>
#include <memory>
#include <partita/along.hpp>
#include <vector>

#include "base/check.hpp"
#include "context/context_state.hpp"

namespace partita {
namespace {

/// By their ranks: the same ranks in the same order are the same context, whichever mesh has named them.
using Lines = std::map<std::vector<int>, std::shared_ptr<ContextState>>;

}  // namespace

Context along(const Context& context, const Mesh& mesh, std::span<const std::string> axes) {
  check(context.state() != nullptr, "the context has been moved away");
  ContextState& state = *context.state();
  state.require_usable_here("along");
  check(mesh.rank_bound() <= state.size(), "along: the mesh needs {} ranks; the context has {}",
        mesh.rank_bound(), state.size());
  const std::vector<int> ranks = mesh.ranks_along(state.rank(), axes);
  auto& lines = state.attachments.get<Lines>();
  if (const auto kept = lines.find(ranks); kept != lines.end() && !kept->second->closed) {
    return Context(std::shared_ptr(kept->second));
  }
  Context made = context.subgroup(ranks);
  lines[ranks] = made.state();
  return made;
}

}  // namespace partita
