// Layouts made from layouts: of the transposed array, of a sub-array, and seen from a larger or a smaller
// group.
#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "distribution/boxes.hpp"
#include "distribution/layout_state.hpp"
#include "distribution/permutation.hpp"

namespace partita {
namespace {

// --- sub-arrays

void refuse_outside(const Index& lower, const Shape& shape, const Shape& whole) {
  check(lower.size() == whole.size() && shape.size() == whole.size(),
        "a window of {} and {} dimensions on an array of {}", lower.size(), shape.size(), whole.size());
  for (int i = 0; i < whole.size(); ++i) {
    check(lower[i] >= 0 && shape[i] >= 0 && shape[i] <= whole[i] && lower[i] <= whole[i] - shape[i],
          "a window of {} from {} along dimension {} is not inside the array {}", shape[i], lower[i], i,
          to_string(whole));
  }
}

Box cut(const Box& whole, const Index& lower, const Shape& shape) {
  std::vector<Box::Bounds> boxes;
  for (const Box::Bounds& box : whole.boxes) {
    Box::Bounds part = box;
    for (int i = 0; i < shape.size(); ++i) {
      part.lower[i] = std::clamp<std::int64_t>(box.lower[i] - lower[i], 0, shape[i]);
      part.upper[i] = std::clamp<std::int64_t>(box.upper[i] - lower[i], 0, shape[i]);
    }
    boxes.push_back(distribution::is_empty(part) ? distribution::empty_box(shape.size()) : part);
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
/// block is not a window.
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

// --- groups

Box embedded(const Box& box, std::span<const int> members, int dimensions) {
  std::vector<Box::Bounds> boxes;
  for (std::size_t i = 0; i < box.boxes.size(); ++i) {
    const auto rank = static_cast<std::size_t>(members[i]);
    if (boxes.size() <= rank) boxes.resize(rank + 1, distribution::empty_box(dimensions));
    boxes[rank] = box.boxes[i];
  }
  return Box(std::move(boxes));
}

/// The rule that says by itself which of the larger group's ranks own what, where there is one.
std::optional<Distribution> embedded_rule(const Distribution& rule, std::span<const int> members, int total,
                                          int dimensions) {
  if (const auto* box = rule.as<Box>(); box != nullptr && dimensions > 0)
    return embedded(*box, members, dimensions);
  const auto member = [&](int rank) { return members[static_cast<std::size_t>(rank)]; };
  if (const auto* cyclic = rule.as<BlockCyclic>())
    return BlockCyclic(cyclic->grid.renumbered(member), cyclic->block);
  if (const auto* blocks = rule.as<BlockNonCyclic>())
    return BlockNonCyclic(blocks->grid.renumbered(member), blocks->block);
  if (const auto* mesh = rule.as<Partitioned>(); mesh != nullptr && !mesh->mesh.ranks().empty())
    return Partitioned{mesh->mesh.renumbered(member), mesh->spec};
  const bool same = distribution::counts_up(members);
  if (same && (rule.as<Partitioned>() != nullptr || static_cast<int>(members.size()) == total)) return rule;
  return std::nullopt;
}

/// The ranks of a rule without an explicit grid, in its order.
std::vector<int> implicit_ranks(const Layout& layout, const std::vector<int>& members) {
  if (!members.empty()) return members;
  const auto* mesh = layout.distribution().as<Partitioned>();
  std::vector<int> ranks(static_cast<std::size_t>(mesh != nullptr ? mesh->mesh.size() : layout.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

Layout Layout::permuted(std::span<const int> axes) const {
  if (state_->window) {
    return Layout(state_->unwindowed())
        .permuted(axes)
        .window(distribution::permuted(origin(), axes), distribution::permuted(shape(), axes));
  }
  return Layout(State::bind(distribution().permuted(axes), distribution::permuted(shape(), axes), ranks(),
                            state_->members));
}

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

std::vector<int> distribution::places_in(std::span<const int> ranks, int total) {
  std::vector<int> places(static_cast<std::size_t>(std::max(total, 0)), -1);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    check(ranks[i] >= 0 && ranks[i] < total, "rank {} is outside a group of {} ranks", ranks[i], total);
    int& place = places[static_cast<std::size_t>(ranks[i])];
    check(place < 0, "rank {} is named twice", ranks[i]);
    place = static_cast<int>(i);
  }
  return places;
}

bool distribution::counts_up(std::span<const int> ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] != static_cast<int>(i)) return false;
  }
  return true;
}

Layout Layout::embedded(std::span<const int> ranks, int total_ranks) const {
  check(static_cast<int>(ranks.size()) == this->ranks(),
        "the list has {} ranks, but the layout is over {} ranks", ranks.size(), this->ranks());
  (void)distribution::places_in(ranks, total_ranks);
  if (state_->window)
    return Layout(state_->unwindowed()).embedded(ranks, total_ranks).window(origin(), shape());
  std::vector<int> members(ranks.begin(), ranks.end());
  if (!state_->members.empty()) {
    members.clear();
    for (const int member : state_->members) members.push_back(ranks[static_cast<std::size_t>(member)]);
  }
  if (auto rule = embedded_rule(distribution(), members, total_ranks, dimensions()))
    return Layout(std::move(*rule), shape(), total_ranks);
  return Layout(State::bind(distribution(), shape(), total_ranks, std::move(members)));
}

Layout Layout::restricted(std::span<const int> ranks) const {
  const std::vector<int> places = distribution::places_in(ranks, this->ranks());
  for (int rank = 0; rank < this->ranks(); ++rank) {
    check(places[static_cast<std::size_t>(rank)] >= 0 || local_size(rank) == 0,
          "{} gives elements to rank {}, which is not in the smaller group", to_string(), rank);
  }
  if (state_->window) return Layout(state_->unwindowed()).restricted(ranks).window(origin(), shape());
  const auto place_of = [&](int rank) {
    const int place = places[static_cast<std::size_t>(rank)];
    check(place >= 0, "{} needs rank {}, which is not in the smaller group", to_string(), rank);
    return place;
  };
  const int total = static_cast<int>(ranks.size());
  const Distribution& rule = distribution();
  if (const auto* box = rule.as<Box>()) {
    std::vector<Box::Bounds> boxes;
    for (const int rank : ranks) {
      const auto index = static_cast<std::size_t>(rank);
      boxes.push_back(index < box->boxes.size() ? box->boxes[index] : distribution::empty_box(dimensions()));
    }
    return Layout(Box(std::move(boxes)), shape(), total);
  }
  if (const auto* cyclic = rule.as<BlockCyclic>(); cyclic != nullptr && state_->members.empty())
    return Layout(BlockCyclic(cyclic->grid.renumbered(place_of), cyclic->block), shape(), total);
  if (const auto* blocks = rule.as<BlockNonCyclic>(); blocks != nullptr && state_->members.empty())
    return Layout(BlockNonCyclic(blocks->grid.renumbered(place_of), blocks->block), shape(), total);
  if (const auto* mesh = rule.as<Partitioned>();
      mesh != nullptr && !mesh->mesh.ranks().empty() && state_->members.empty())
    return Layout(Partitioned{mesh->mesh.renumbered(place_of), mesh->spec}, shape(), total);
  std::vector<int> members = implicit_ranks(*this, state_->members);
  for (int& member : members) member = place_of(member);
  const bool plain = distribution::counts_up(members) && (static_cast<int>(members.size()) == total ||
                                                          rule.kind() == DistributionKind::partitioned);
  if (plain) return Layout(rule, shape(), total);
  return Layout(State::bind(rule, shape(), total, std::move(members)));
}

}  // namespace partita
