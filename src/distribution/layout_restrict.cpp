// A layout seen from a smaller group: the inverse of `embedded`.
#include <numeric>

#include "base/check.hpp"
#include "distribution/layout_state.hpp"

namespace partita {
namespace {

/// Place of each of `total` ranks in `ranks`; -1 outside.
std::vector<int> places_in(std::span<const int> ranks, int total) {
  std::vector<int> places(static_cast<std::size_t>(total), -1);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    check(ranks[i] >= 0 && ranks[i] < total, "rank {} lies outside a group of {} ranks", ranks[i], total);
    int& place = places[static_cast<std::size_t>(ranks[i])];
    check(place < 0, "rank {} is named twice", ranks[i]);
    place = static_cast<int>(i);
  }
  return places;
}

/// Every rank of the rule must have a place: `what` names the rule in the error.
std::vector<int> placed(std::span<const int> rule_ranks, const std::vector<int>& places,
                        const Layout& layout) {
  std::vector<int> result;
  for (const int rank : rule_ranks) {
    const int place = places[static_cast<std::size_t>(rank)];
    check(place >= 0, "{} needs rank {}, which is not in the smaller group", layout.to_string(), rank);
    result.push_back(place);
  }
  return result;
}

std::vector<int> ranks_of(const ProcessGrid& grid) {
  std::vector<int> ranks;
  const Strides strides = dense_strides(grid.extents());
  for (int i = 0; i < grid.size(); ++i) {
    Extents coordinates = grid.extents();
    for (int d = 0; d < grid.dimensions(); ++d) coordinates[d] = i / strides[d] % grid.extents()[d];
    ranks.push_back(grid.rank_at(coordinates));
  }
  return ranks;
}

ProcessGrid moved(const ProcessGrid& grid, const std::vector<int>& places, const Layout& layout) {
  return ProcessGrid::of_ranks(grid.extents(), placed(ranks_of(grid), places, layout), grid.first());
}

/// The ranks that a rule without a grid of its own speaks of, in its order.
std::vector<int> implicit_ranks(const Layout& layout, const std::vector<int>& members) {
  if (!members.empty()) return members;
  const auto* mesh = layout.distribution().as<Partitioned>();
  std::vector<int> ranks(static_cast<std::size_t>(mesh != nullptr ? mesh->mesh.size() : layout.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

bool counts_up(const std::vector<int>& ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] != static_cast<int>(i)) return false;
  }
  return true;
}

}  // namespace

Layout Layout::restricted(std::span<const int> ranks) const {
  const std::vector<int> places = places_in(ranks, this->ranks());
  for (int rank = 0; rank < this->ranks(); ++rank) {
    check(places[static_cast<std::size_t>(rank)] >= 0 || local_size(rank) == 0,
          "{} gives elements to rank {}, which is not in the smaller group", to_string(), rank);
  }
  if (state_->window) return Layout(state_->unwindowed()).restricted(ranks).window(origin(), shape());
  const int total = static_cast<int>(ranks.size());
  const Distribution& rule = distribution();
  if (const auto* box = rule.as<Box>()) {
    const Extents zeros = Extents::filled(dimensions(), 0);
    std::vector<Box::Bounds> boxes;
    for (const int rank : ranks) {
      const auto index = static_cast<std::size_t>(rank);
      boxes.push_back(index < box->boxes.size() ? box->boxes[index] : Box::Bounds{zeros, zeros});
    }
    return Layout(Box(std::move(boxes)), shape(), total);
  }
  if (const auto* cyclic = rule.as<BlockCyclic>(); cyclic != nullptr && state_->members.empty())
    return Layout(BlockCyclic(moved(cyclic->grid, places, *this), cyclic->block), shape(), total);
  if (const auto* blocks = rule.as<BlockNonCyclic>(); blocks != nullptr && state_->members.empty())
    return Layout(BlockNonCyclic(moved(blocks->grid, places, *this), blocks->block), shape(), total);
  std::vector<int> members = placed(implicit_ranks(*this, state_->members), places, *this);
  const bool plain = counts_up(members) && (static_cast<int>(members.size()) == total ||
                                            rule.kind() == DistributionKind::partitioned);
  if (plain) return Layout(rule, shape(), total);
  return Layout(State::bind(rule, shape(), total, std::move(members)));
}

}  // namespace partita
