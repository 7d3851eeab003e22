// The same memory seen from a larger or a smaller context.
#include <fmt/format.h>

#include <optional>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "base/contains.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

std::string ranks_text(std::span<const int> ranks) {
  return fmt::format("{}", fmt::join(ranks, ","));
}

/// What the ranks outside need to know of an array, as the members tell it.
struct Outline {
  Dtype dtype = Dtype::f64;
  MemorySpace space = MemorySpace::host;
  Shape shape;
  Index origin;  ///< of a window
  Shape whole;
  std::string distribution;
};

auto members_of(is_a<Outline> auto& outline) {
  return std::tie(outline.dtype, outline.space, outline.shape, outline.origin, outline.whole,
                  outline.distribution);
}

Outline outline_of(const Array& array) {
  const Layout& layout = array.layout();
  return {array.dtype(),   array.local().space,  array.shape(),
          layout.origin(), layout.whole_shape(), layout.distribution().to_string()};
}

/// The list says which rank of the larger context each rank of the smaller one is.
void check_numbering(std::string_view operation, std::span<const int> ranks, int inner, int outer) {
  check(ranks[static_cast<std::size_t>(inner)] == outer,
        "{}: by the list {}, rank {} of the smaller context is rank {} of the larger one, but it is rank {}",
        operation, ranks_text(ranks), inner, ranks[static_cast<std::size_t>(inner)], outer);
}

}  // namespace

Array embed(const Context& context, const Array& array, std::span<const int> ranks) {
  const runtime::PublicCall call("embed");
  const std::shared_ptr<ContextState>& state = context.state();
  state->require_usable("embed");
  runtime::collectively(*state, "embed", [&]() -> std::vector<Fact> {
    const bool member = contains(ranks, state->rank());
    check(!ranks.empty(), "embed: the list of ranks is empty");
    for (const int rank : ranks) {
      check(rank >= 0 && rank < state->size(), "embed: rank {} is in the list, but there are {} ranks", rank,
            state->size());
    }
    check(member == array.valid(), "embed: rank {} {} in the list {}, but its array is {}", state->rank(),
          member ? "is" : "is not", ranks_text(ranks), array.valid() ? "valid" : "not valid");
    check(!member || array.layout().ranks() == static_cast<int>(ranks.size()),
          "embed: the array is on {} ranks, but the list is {}", member ? array.layout().ranks() : 0,
          ranks_text(ranks));
    if (member) check_numbering("embed", ranks, array.context_state()->rank(), state->rank());
    return {{"ranks", ranks_text(ranks)}};
  });
  const auto all = runtime::exchange_values(*state, "embed", array.valid() ? outline_of(array) : Outline());
  const Outline& outline = all[static_cast<std::size_t>(ranks.front())];
  const Layout inner =
      Layout(Distribution::parse(outline.distribution), outline.whole, static_cast<int>(ranks.size()))
          .window(outline.origin, outline.shape);
  const Layout layout = inner.embedded(ranks, state->size());
  View part =
      array.valid() ? array.local() : View::dense(nullptr, outline.dtype, layout.local_shape(state->rank()));
  part.space = outline.space;
  // The memory lives as long as any view of it.
  return arrays::wrap_agreed(state, part, layout, "embed", array.state());
}

Array restrict_to(const Context& subgroup, const Array& array, std::span<const int> ranks) {
  const runtime::PublicCall call("restrict_to");
  const std::shared_ptr<ContextState>& state = subgroup.state();
  state->require_usable("restrict_to");
  std::optional<Layout> layout;
  runtime::collectively(*state, "restrict_to", [&]() -> std::vector<Fact> {
    check(static_cast<int>(ranks.size()) == state->size(),
          "restrict_to: the list has {} ranks, but the subgroup has {}", ranks.size(), state->size());
    check_numbering("restrict_to", ranks, state->rank(), array.context_state()->rank());
    layout = array.layout().restricted(ranks);
    return {{"layout", layout->to_string()}, {"ranks", ranks_text(ranks)}};
  });
  return arrays::wrap_agreed(state, array.local(), *layout, "restrict_to", array.state());
}

}  // namespace partita
