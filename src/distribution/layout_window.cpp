// The layout of a sub-array.
#include <algorithm>

#include "base/check.hpp"
#include "distribution/boxes.hpp"
#include "distribution/layout_state.hpp"

namespace partita {
namespace {

void refuse_outside(const Index& lower, const Shape& shape, const Shape& whole) {
  check(lower.size() == whole.size() && shape.size() == whole.size(),
        "a window of {} and {} dimensions on an array of {}", lower.size(), shape.size(), whole.size());
  for (int i = 0; i < whole.size(); ++i) {
    check(lower[i] >= 0 && shape[i] >= 0 && shape[i] <= whole[i] && lower[i] <= whole[i] - shape[i],
          "a window of {} from {} along dimension {} does not lie inside the array {}", shape[i], lower[i], i,
          to_string(whole));
  }
}

Box cut(const Box& whole, const Index& lower, const Shape& shape) {
  const Extents zeros = Extents::filled(shape.size(), 0);
  std::vector<Box::Bounds> boxes;
  for (const Box::Bounds& box : whole.boxes) {
    Box::Bounds part = box;
    for (int i = 0; i < shape.size(); ++i) {
      part.lower[i] = std::clamp<std::int64_t>(box.lower[i] - lower[i], 0, shape[i]);
      part.upper[i] = std::clamp<std::int64_t>(box.upper[i] - lower[i], 0, shape[i]);
    }
    boxes.push_back(distribution::is_empty(part) ? Box::Bounds{zeros, zeros} : part);
  }
  return Box(std::move(boxes));
}

/// [lower, lower + shape) of an array of shape `whole` that is laid out by `rule`.
struct Seen {
  Distribution rule;
  Index lower;
  Shape whole;
};

/// The same window with the fewest indices before and none behind it: blocks before the first that is seen
/// only say which process owns that one. So equal windows are written equally, and one that begins with a
/// block is no window.
Seen shortest(const BlockCyclic& rule, const Index& lower, const Shape& shape) {
  const Extents& parts = rule.grid.extents();
  Extents first = rule.grid.first();
  Index inside = lower;
  Shape whole = shape;
  for (int i = 0; i < shape.size(); ++i) {
    first[i] = (first[i] + lower[i] / rule.block[i] % parts[i]) % parts[i];
    inside[i] = lower[i] % rule.block[i];
    const bool one_owner = parts[i] == 1 || inside[i] <= rule.block[i] - shape[i];
    if (one_owner) inside[i] = 0;
    whole[i] = inside[i] + shape[i];
  }
  const ProcessGrid& grid = rule.grid;
  ProcessGrid turned = grid.ranks().empty() ? ProcessGrid(parts, grid.order(), first)
                                            : ProcessGrid::of_ranks(parts, grid.ranks(), first);
  return {BlockCyclic(std::move(turned), rule.block), inside, whole};
}

}  // namespace

Layout Layout::window(const Index& lower, const Shape& shape) const {
  refuse_outside(lower, shape, this->shape());
  if (shape == this->shape()) return *this;
  if (const Box* box = state_->box()) return Layout(cut(*box, lower, shape), shape, ranks());
  Seen seen{distribution(), origin(), whole_shape()};
  for (int i = 0; i < shape.size(); ++i) seen.lower[i] += lower[i];
  if (const auto* cyclic = distribution().as<BlockCyclic>()) seen = shortest(*cyclic, seen.lower, shape);
  const bool all = seen.whole == shape || distribution().as<Replicated>() != nullptr;
  if (all) return Layout(State::bind(std::move(seen.rule), shape, ranks(), state_->members));
  State state = *State::bind(std::move(seen.rule), seen.whole, ranks(), state_->members);
  state.arrangement->look_through(seen.lower, shape);
  state.shape = shape;
  state.window = State::Window{seen.lower, seen.whole};
  return Layout(std::make_shared<const State>(std::move(state)));
}

}  // namespace partita
