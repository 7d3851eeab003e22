// Layouts made from layouts: of the transposed array, and seen from a larger group.
#include <algorithm>

#include "base/check.hpp"
#include "distribution/layout_state.hpp"
#include "distribution/permutation.hpp"

namespace partita {
namespace {

Box embedded(const Box& box, std::span<const int> members, int dimensions) {
  const Extents zeros = Extents::filled(dimensions, 0);
  std::vector<Box::Bounds> boxes;
  for (std::size_t i = 0; i < box.boxes.size(); ++i) {
    const auto rank = static_cast<std::size_t>(members[i]);
    if (boxes.size() <= rank) boxes.resize(rank + 1, {zeros, zeros});
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
  const bool same = distribution::counts_up(members);
  if (same && (rule.as<Partitioned>() != nullptr || static_cast<int>(members.size()) == total)) return rule;
  return std::nullopt;
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

Layout Layout::embedded(std::span<const int> ranks, int total_ranks) const {
  check(static_cast<int>(ranks.size()) == this->ranks(), "{} ranks are named for a layout over {} ranks",
        ranks.size(), this->ranks());
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

}  // namespace partita
