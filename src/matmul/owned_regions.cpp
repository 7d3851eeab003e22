#include "matmul/owned_regions.hpp"

#include <algorithm>
#include <map>

namespace partita::multiplication {
namespace {

// Most sets are ranges: no third set has to be made to compare those.
std::int64_t common_size(const IndexSet& a, const IndexSet& b) {
  if (a.empty() || b.empty() || a.back() < b.front() || b.back() < a.front()) return 0;
  if (a == b) return a.size();
  if (!a.is_range() || !b.is_range()) return intersect(a, b).size();
  return std::min(a.back(), b.back()) - std::max(a.front(), b.front()) + 1;
}

// Holders of one element hold the same, so the smallest indices tell parts apart.
std::vector<int> first_holders(const std::vector<Region>& regions) {
  std::map<std::vector<std::int64_t>, int> first_at;
  std::vector<int> result;
  for (std::size_t rank = 0; rank < regions.size(); ++rank) {
    std::vector<std::int64_t> corner;
    for (const IndexSet& set : regions[rank].sets) corner.push_back(set.empty() ? -1 : set.front());
    result.push_back(first_at.emplace(std::move(corner), static_cast<int>(rank)).first->second);
  }
  return result;
}

}  // namespace

OwnedRegions::OwnedRegions(const Layout& layout) {
  State state;
  state.regions.reserve(static_cast<std::size_t>(layout.ranks()));
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    state.regions.push_back(layout.region(rank));
    state.elements += state.regions.back().size();
  }
  if (layout.is_replicated() || layout.partial()) state.first = first_holders(state.regions);
  state_ = std::make_shared<const State>(std::move(state));
}

bool covers(const Region& held, const Region& wanted) {
  if (wanted.empty()) return true;
  if (held.empty()) return false;
  for (std::size_t i = 0; i < wanted.sets.size(); ++i) {
    if (common_size(held.sets[i], wanted.sets[i]) != wanted.sets[i].size()) return false;
  }
  return true;
}

std::int64_t common_size(const Region& a, const Region& b) {
  if (a.sets.size() != b.sets.size()) return 0;  // one of them is nothing
  std::int64_t size = 1;
  for (std::size_t i = 0; i < a.sets.size() && size > 0; ++i) size *= common_size(a.sets[i], b.sets[i]);
  return size;
}

Index front(const Region& region) {
  Index first;
  for (const IndexSet& set : region.sets) first.push_back(set.front());
  return first;
}

bool holds_front(const Region& held, const Region& piece) {
  for (std::size_t i = 0; i < piece.sets.size(); ++i) {
    if (!held.sets[i].contains(piece.sets[i].front())) return false;
  }
  return true;
}

}  // namespace partita::multiplication
