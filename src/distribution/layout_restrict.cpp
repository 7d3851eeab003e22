// A layout seen from a smaller group: the inverse of `embedded`.
#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "distribution/layout_state.hpp"

namespace partita {
namespace {

/// The ranks that a rule without a grid of its own speaks of, in its order.
std::vector<int> implicit_ranks(const Layout& layout, const std::vector<int>& members) {
  if (!members.empty()) return members;
  const auto* mesh = layout.distribution().as<Partitioned>();
  std::vector<int> ranks(static_cast<std::size_t>(mesh != nullptr ? mesh->mesh.size() : layout.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

std::vector<int> distribution::places_in(std::span<const int> ranks, int total) {
  std::vector<int> places(static_cast<std::size_t>(std::max(total, 0)), -1);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    check(ranks[i] >= 0 && ranks[i] < total, "rank {} lies outside a group of {} ranks", ranks[i], total);
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
    const Extents zeros = Extents::filled(dimensions(), 0);
    std::vector<Box::Bounds> boxes;
    for (const int rank : ranks) {
      const auto index = static_cast<std::size_t>(rank);
      boxes.push_back(index < box->boxes.size() ? box->boxes[index] : Box::Bounds{zeros, zeros});
    }
    return Layout(Box(std::move(boxes)), shape(), total);
  }
  if (const auto* cyclic = rule.as<BlockCyclic>(); cyclic != nullptr && state_->members.empty())
    return Layout(BlockCyclic(cyclic->grid.renumbered(place_of), cyclic->block), shape(), total);
  if (const auto* blocks = rule.as<BlockNonCyclic>(); blocks != nullptr && state_->members.empty())
    return Layout(BlockNonCyclic(blocks->grid.renumbered(place_of), blocks->block), shape(), total);
  std::vector<int> members = implicit_ranks(*this, state_->members);
  for (int& member : members) member = place_of(member);
  const bool plain = distribution::counts_up(members) && (static_cast<int>(members.size()) == total ||
                                                          rule.kind() == DistributionKind::partitioned);
  if (plain) return Layout(rule, shape(), total);
  return Layout(State::bind(rule, shape(), total, std::move(members)));
}

}  // namespace partita
