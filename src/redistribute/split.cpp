#include "redistribute/split.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/round.hpp"

namespace partita::redistribution {

namespace {

// Shrinks tile[dimension] until the tile holds at most `most` elements, or the dimension is down to `least`.
void shrink(Extents& tile, int dimension, std::int64_t most, std::int64_t least) {
  const std::int64_t others = volume(tile) / tile[dimension];
  tile[dimension] = std::clamp(most / others, std::min(least, tile[dimension]), tile[dimension]);
}

// Equal pieces instead of full ones and a remainder.
void even_out(const Extents& shape, Tiling& tiling) {
  for (int i = 0; i < shape.size(); ++i) {
    tiling.pieces[i] = ceil_divide(shape[i], tiling.tile[i]);
    tiling.tile[i] = ceil_divide(shape[i], tiling.pieces[i]);
  }
}

}  // namespace

Tiling tiling(const Extents& shape, std::int64_t most, const Extents& packed_order,
              const Extents& other_order) {
  Tiling result{shape, Extents::filled(shape.size(), 1)};
  if (shape.empty() || volume(shape) == 0) return result;
  const int fastest = static_cast<int>(packed_order[shape.size() - 1]);
  const int fastest_there = static_cast<int>(other_order[shape.size() - 1]);
  for (const std::int64_t dimension : packed_order) {
    if (dimension == fastest || dimension == fastest_there) continue;
    shrink(result.tile, static_cast<int>(dimension), most, 1);
  }
  if (fastest != fastest_there) {
    // A transposition: runs on both sides must stay long, those of the packed order (read from memory) 16
    // times as long as those of the other (written by whole lines from cache).
    const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(most)));
    shrink(result.tile, fastest_there, most, std::max<std::int64_t>(side / 4, 1));
  }
  shrink(result.tile, fastest, most, 1);
  even_out(shape, result);
  return result;
}

IndexSet slice(const IndexSet& set, std::int64_t first, std::int64_t last) {
  if (first >= last) return {};
  if (first == 0 && last == set.size()) return set;
  return intersect(set, IndexSet::range(set.at(first), set.at(last - 1) + 1));
}

namespace {

std::vector<IndexSet> cut(const IndexSet& set, std::int64_t pieces) {
  std::vector<IndexSet> result;
  const std::int64_t size = set.size();
  const std::int64_t each = size / pieces;
  const std::int64_t longer = size % pieces;  // the first ones get one more
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::int64_t last = first + each + (i < longer ? 1 : 0);
    result.push_back(slice(set, first, last));
    first = last;
  }
  return result;
}

}  // namespace

std::vector<Region> split(const Region& region, std::int64_t most, const Extents& packed_order,
                          const Extents& other_order) {
  invariant(most >= 1, "a piece must hold at least one element");
  if (region.empty()) return {};
  const Tiling grid = tiling(region.shape(), most, packed_order, other_order);
  std::vector<Region> result{region};
  for (const std::int64_t dimension : packed_order) {
    const auto d = static_cast<std::size_t>(dimension);
    const std::int64_t pieces = grid.pieces[static_cast<int>(dimension)];
    if (pieces == 1) continue;
    const std::vector<IndexSet> sets = cut(region.sets[d], pieces);
    std::vector<Region> finer;
    finer.reserve(result.size() * sets.size());
    for (const Region& piece : result) {
      for (const IndexSet& set : sets) {
        finer.push_back(piece);
        finer.back().sets[d] = set;
      }
    }
    result = std::move(finer);
  }
  return result;
}

}  // namespace partita::redistribution
