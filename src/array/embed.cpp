// The same memory seen from a larger or a smaller context.
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "runtime/agree.hpp"

namespace partita {
namespace {

std::string ranks_text(std::span<const int> ranks) {
  return fmt::format("{}", fmt::join(ranks, ","));
}

bool contains(std::span<const int> ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// What the ranks outside need to know of an array, as the members tell it: beside its distribution.
struct Outline {
  Dtype dtype = Dtype::f64;
  MemorySpace space = MemorySpace::host;
  Shape shape;
  Index origin;  ///< of a window
  Shape whole;
};

std::string pack(const Array& array) {
  const Layout& layout = array.layout();
  const Outline outline{array.dtype(), array.local().space, array.shape(), layout.origin(),
                        layout.whole_shape()};
  return std::string(reinterpret_cast<const char*>(&outline), sizeof outline) +
         layout.distribution().to_string();
}

std::pair<Outline, Distribution> unpack(const std::string& text) {
  static_assert(std::is_trivially_copyable_v<Outline>);
  Outline outline;
  std::memcpy(&outline, text.data(), sizeof outline);
  return {outline, Distribution::parse(std::string_view(text).substr(sizeof outline))};
}

}  // namespace

Array embed(const Context& context, const Array& array, std::span<const int> ranks) {
  const std::shared_ptr<ContextState>& state = context.state();
  state->require_usable("embed");
  collectively(*state, "embed", [&]() -> std::vector<Fact> {
    const bool member = contains(ranks, state->rank());
    check(!ranks.empty(), "embed: the list of ranks is empty");
    check(member == array.valid(), "embed: rank {} {} in the list {}, but its array is {}", state->rank(),
          member ? "is" : "is not", ranks_text(ranks), array.valid() ? "valid" : "not valid");
    check(!member || array.layout().ranks() == static_cast<int>(ranks.size()),
          "embed: the array lives on {} ranks, but the list is {}", member ? array.layout().ranks() : 0,
          ranks_text(ranks));
    return {{"ranks", ranks_text(ranks)}};
  });
  std::string mine;
  if (array.valid()) mine = pack(array);
  const std::vector<std::string> all = exchange(*state, "embed", mine);
  const auto [outline, distribution] = unpack(all[static_cast<std::size_t>(ranks.front())]);
  const Layout inner = Layout(distribution, outline.whole, static_cast<int>(ranks.size()))
                           .window(outline.origin, outline.shape);
  const Layout layout = inner.embedded(ranks, state->size());
  View part =
      array.valid() ? array.local() : View::dense(nullptr, outline.dtype, layout.local_shape(state->rank()));
  part.space = outline.space;
  Array wrapped = wrap_agreed(state, part, layout, "embed");
  wrapped.state()->owner = array.state();  // the memory lives as long as any view of it
  return wrapped;
}

Array restrict_to(const Context& subgroup, const Array& array, std::span<const int> ranks) {
  const std::shared_ptr<ContextState>& state = subgroup.state();
  state->require_usable("restrict_to");
  std::optional<Layout> layout;
  collectively(*state, "restrict_to", [&]() -> std::vector<Fact> {
    check(static_cast<int>(ranks.size()) == state->size(),
          "restrict_to: {} ranks are named, the subgroup has {}", ranks.size(), state->size());
    layout = array.layout().restricted(ranks);
    return {{"layout", layout->to_string()}, {"ranks", ranks_text(ranks)}};
  });
  Array wrapped = wrap_agreed(state, array.local(), *layout, "restrict_to");
  wrapped.state()->owner = array.state();
  return wrapped;
}

}  // namespace partita
