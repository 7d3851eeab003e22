// The same memory seen from a larger or a smaller context.
#include <fmt/format.h>

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

/// What the ranks outside need to know of an array, as the members tell it.
struct Outline {
  std::string distribution;
  Shape shape;
  Dtype dtype = Dtype::f64;
  MemorySpace space = MemorySpace::host;
  Index origin;  ///< of a window
  Shape whole;

  Layout layout(int ranks) const {
    return Layout(Distribution::parse(distribution), whole, ranks).window(origin, shape);
  }
};

Outline outline_of(const Array& array) {
  const Layout& layout = array.layout();
  return {layout.distribution().to_string(),
          array.shape(),
          array.dtype(),
          array.local().space,
          layout.origin(),
          layout.whole_shape()};
}

std::string pack(const Outline& outline) {
  std::string text =
      fmt::format("{} {} {}", name(outline.dtype), static_cast<int>(outline.space), outline.shape.size());
  for (const Extents& extents : {outline.shape, outline.origin, outline.whole})
    text += fmt::format(" {}", fmt::join(extents.begin(), extents.end(), " "));
  return text + "\n" + outline.distribution;
}

Outline unpack(const std::string& text) {
  Outline outline;
  const std::size_t line = text.find('\n');
  std::istringstream words(text.substr(0, line));
  std::string dtype;
  int dimensions = 0;
  int space = 0;
  words >> dtype >> space >> dimensions;
  outline.space = static_cast<MemorySpace>(space);
  outline.dtype = parse_dtype(dtype);
  for (Extents* extents : {&outline.shape, &outline.origin, &outline.whole}) {
    std::int64_t extent = 0;
    for (int i = 0; i < dimensions && words >> extent; ++i) extents->push_back(extent);
  }
  outline.distribution = text.substr(line + 1);
  return outline;
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
  if (array.valid()) mine = pack(outline_of(array));
  const std::vector<std::string> all = exchange(*state, "embed", mine);
  const Outline outline = unpack(all[static_cast<std::size_t>(ranks.front())]);
  const Layout layout = outline.layout(static_cast<int>(ranks.size())).embedded(ranks, state->size());
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
