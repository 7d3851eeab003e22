#include "matmul/frame.hpp"

#include <utility>

namespace partita::multiplication {
namespace {

Region region_of(const Tile& tile, bool batched, const IndexSet& rows, const IndexSet& columns) {
  Region region;
  if (batched) region.sets = tile.batch;
  region.sets.push_back(rows);
  region.sets.push_back(columns);
  return region;
}

}  // namespace

Extents Frame::product_order() const {
  Extents order = problem.d.axis_order;
  if (turned_products) std::swap(order[order.size() - 2], order[order.size() - 1]);
  return order;
}

Region region_of_a(const Frame& frame, const Tile& tile) {
  return region_of(tile, frame.a.batched, tile.m, tile.k);
}

Region region_of_b(const Frame& frame, const Tile& tile) {
  return region_of(tile, frame.b.batched, tile.k, tile.n);
}

Region region_of_d(const Tile& tile) {
  return region_of(tile, true, tile.m, tile.n);
}

Index front(const Region& region) {
  Index first;
  for (const IndexSet& set : region.sets) first.push_back(set.front());
  return first;
}

bool meet(const Region& a, const Region& b) {
  if (a.empty() || b.empty()) return false;
  for (std::size_t i = 0; i < a.sets.size(); ++i) {
    if (a.sets[i].back() < b.sets[i].front() || b.sets[i].back() < a.sets[i].front()) return false;
  }
  for (std::size_t i = 0; i < a.sets.size(); ++i) {
    const bool ranges = a.sets[i].is_range() && b.sets[i].is_range();
    if (!ranges && intersect(a.sets[i], b.sets[i]).empty()) return false;
  }
  return true;
}

bool holds_front(const Region& held, const Region& piece) {
  for (std::size_t i = 0; i < piece.sets.size(); ++i) {
    if (!held.sets[i].contains(piece.sets[i].front())) return false;
  }
  return true;
}

}  // namespace partita::multiplication
