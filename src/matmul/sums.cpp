#include "matmul/sums.hpp"

#include <algorithm>

namespace partita::multiplication {
namespace {

struct Arrival {
  Region region;
  Contribution from;
};

bool before(const Region& a, const Region& b) {
  for (std::size_t i = 0; i < a.sets.size(); ++i) {
    if (a.sets[i].front() != b.sets[i].front()) return a.sets[i].front() < b.sets[i].front();
  }
  return a.size() < b.size();
}

// What all ranks make of this rank's part of D.
std::vector<Arrival> arrivals(const Frame& frame, Cutting& cutting, const std::vector<Product>& own) {
  std::vector<Arrival> result;
  for (const Product& product : own) {
    if (product.holder == frame.rank()) result.push_back({product.region, {frame.rank(), product.offset}});
  }
  if (!frame.delivers) return result;
  const Region& held = frame.problem.d.held.by(frame.rank());
  for (int step = 1; step < frame.problem.ranks(); ++step) {
    const int peer = (frame.rank() + step) % frame.problem.ranks();
    const Tile& tile = frame.tile(peer);
    if (tile.empty() || common_size(region_of_d(tile), held) == 0) continue;
    for (Product& product : products_of(frame, cutting.blocks(peer), peer)) {
      if (product.holder != frame.rank()) continue;
      result.push_back({std::move(product.region), {peer, product.offset}});
    }
  }
  return result;
}

}  // namespace

Sums sums_of(const Frame& frame, Cutting& cutting, const std::vector<Product>& own) {
  std::vector<Arrival> all = arrivals(frame, cutting, own);
  // Stable: among equal regions by distance, this rank's own first.
  std::stable_sort(all.begin(), all.end(),
                   [](const Arrival& a, const Arrival& b) { return before(a.region, b.region); });
  Sums result;
  std::int64_t covered = 0;
  for (const Arrival& arrival : all) {
    if (result.sums.empty() || result.sums.back().region != arrival.region) {
      covered += arrival.region.size();
      result.sums.push_back({arrival.region, {}});
    }
    result.sums.back().contributions.push_back(arrival.from);
  }
  result.irregular = covered > frame.problem.d.layout.local_size(frame.rank());
  if (!result.irregular) return result;
  result.sums.clear();
  for (Arrival& arrival : all) result.sums.push_back({std::move(arrival.region), {arrival.from}});
  return result;
}

}  // namespace partita::multiplication
