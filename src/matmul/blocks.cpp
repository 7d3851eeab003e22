#include "matmul/blocks.hpp"

#include <algorithm>
#include <numeric>

#include "redistribute/split.hpp"

namespace partita::multiplication {
namespace {

constexpr std::int64_t cache_bytes = std::int64_t{1} << 20;
// Rows of a product over which the packing of the other operand costs a few per cent.
constexpr std::int64_t thin = 1024;

Partition cut(const Layout& layout, const Region& region, std::size_t dimension) {
  std::vector<IndexSet> sets;
  for (Layout::Cell& cell : layout.cells(region)) sets.push_back(std::move(cell.region.sets[dimension]));
  return partition(region.sets[dimension], std::move(sets));
}

/// What a layout makes of each dimension of a region. Parts of a grid are products, so that one line along a
/// dimension shows all of its parts; boxes must all be looked at.
std::vector<Partition> cuts(const Layout& layout, const Region& region) {
  const bool boxes = layout.distribution().kind() == DistributionKind::box;
  std::vector<Partition> result;
  for (std::size_t d = 0; d < region.sets.size(); ++d) {
    Region line = region;
    for (std::size_t other = 0; other < region.sets.size() && !boxes; ++other) {
      const std::int64_t first = region.sets[other].front();
      if (other != d) line.sets[other] = IndexSet::range(first, first + 1);
    }
    result.push_back(cut(layout, line, d));
  }
  return result;
}

std::vector<std::vector<IndexSet>> combinations(const std::vector<Partition>& dimensions) {
  std::vector<std::vector<IndexSet>> result{{}};
  for (const Partition& pieces : dimensions) {
    std::vector<std::vector<IndexSet>> longer;
    for (const auto& prefix : result) {
      for (const IndexSet& piece : pieces) {
        longer.push_back(prefix);
        longer.back().push_back(piece);
      }
    }
    result = std::move(longer);
  }
  return result;
}

/// The number of the first piece that meets what the rank holds of the operand along the dimension.
std::size_t own_piece(const Partition& pieces, const Operand& operand, int dimension, int rank) {
  const Region own = operand.layout.region(rank);
  if (own.empty()) return 0;
  const IndexSet& held = own.sets[static_cast<std::size_t>(dimension)];
  const auto found = std::find_if(pieces.begin(), pieces.end(),
                                  [&](const IndexSet& piece) { return held.contains(piece.front()); });
  return found == pieces.end() ? 0 : static_cast<std::size_t>(found - pieces.begin());
}

std::int64_t size(const std::vector<IndexSet>& sets) {
  std::int64_t result = 1;
  for (const IndexSet& set : sets) result *= set.size();
  return result;
}

/// Indices of k in one turn: what arrives from other nodes fits `message_bytes`.
std::int64_t longest_turn(const Frame& frame, const Tile& tile) {
  if (frame.problem.topology.node_count() == 1) return std::max<std::int64_t>(tile.k.size(), 1);
  const std::int64_t batches = size(tile.batch);
  const std::int64_t a = (frame.a.batched ? batches : 1) * tile.m.size();
  const std::int64_t b = (frame.b.batched ? batches : 1) * tile.n.size();
  const std::int64_t bytes =
      size_of(frame.problem.a.dtype) * ((frame.a.moves ? a : 0) + (frame.b.moves ? b : 0));
  if (bytes == 0) return std::max<std::int64_t>(tile.k.size(), 1);
  return std::max(frame.message_bytes / bytes, frame.shortest_turn);
}

std::vector<IndexSet> turns_of(const Frame& frame, int rank, const Partition& depth) {
  const Operand& a = frame.a.operand;
  const Operand& b = frame.b.operand;
  const std::size_t skew = own_piece(depth, a, a.layout.dimensions() - 1, rank) +
                           own_piece(depth, b, b.layout.dimensions() - 2, rank);
  Partition rotated = depth;
  std::rotate(rotated.begin(), rotated.begin() + static_cast<std::ptrdiff_t>(skew % depth.size()),
              rotated.end());
  return chop(rotated, longest_turn(frame, frame.tile(rank)));
}

std::vector<IndexSet> sets_of(const std::vector<IndexSet>& batch, const IndexSet& rows,
                              const IndexSet& columns) {
  std::vector<IndexSet> sets = batch;
  sets.push_back(rows);
  sets.push_back(columns);
  return sets;
}

Piece piece_of(const Frame& frame, const Input& input, Region region, int rank) {
  const std::vector<int> owners = input.operand.layout.owners(front(region));
  return {std::move(region), Layout::choose_replica(owners, rank, frame.problem.topology)};
}

bool follow_each_other(const Partition& pieces) {
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i - 1].back() >= pieces[i].front()) return false;
  }
  return true;
}

/// Whether D alone cuts the tile along its slowest dimension, into thin pieces, and nothing cuts the other.
bool joins(const Frame& frame, const Tile& tile, const Blocks& blocks, const Partition& a_rows,
           const Partition& b_columns) {
  if (frame.tiling.stationary_d) return false;
  const int batches = frame.problem.batches();
  const Extents& order = frame.problem.d.axis_order;
  for (const auto& batch : blocks.batches) {
    if (size(batch) != 1) return false;
  }
  const bool by_rows = order[batches] == batches;
  if (order[batches] < batches || order[batches + 1] < batches) return false;
  const Partition& along = by_rows ? blocks.rows : blocks.columns;
  const std::size_t owners = by_rows ? a_rows.size() : b_columns.size();
  const std::size_t across = by_rows ? blocks.columns.size() : blocks.rows.size();
  const std::int64_t extent = by_rows ? tile.m.size() : tile.n.size();
  const auto pieces = static_cast<std::int64_t>(along.size());
  return across == 1 && owners == 1 && pieces > 1 && extent < thin * pieces && follow_each_other(along);
}

}  // namespace

Blocks blocks_of(const Frame& frame, int rank) {
  const Tile& tile = frame.tile(rank);
  if (tile.empty()) return {};
  const auto a = cuts(frame.a.operand.layout, region_of_a(frame, tile));
  const auto b = cuts(frame.b.operand.layout, region_of_b(frame, tile));
  std::vector<Partition> d;
  if (frame.tiling.stationary_d) {  // the rank's own cell
    for (const IndexSet& set : region_of_d(tile).sets) d.push_back({set});
  } else {
    d = cuts(frame.problem.d.layout, region_of_d(tile));
  }
  const std::size_t dimensions = d.size();
  Blocks blocks;
  blocks.rows = refine(a[a.size() - 2], d[dimensions - 2]);
  blocks.columns = refine(b[b.size() - 1], d[dimensions - 1]);
  d.resize(dimensions - 2);
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (frame.a.batched) d[i] = refine(d[i], a[i]);
    if (frame.b.batched) d[i] = refine(d[i], b[i]);
  }
  blocks.batches = combinations(d);
  blocks.turns = turns_of(frame, rank, refine(a[a.size() - 1], b[b.size() - 2]));
  blocks.joined = joins(frame, tile, blocks, a[a.size() - 2], b[b.size() - 1]);
  return blocks;
}

std::vector<Piece> pieces_of_a(const Frame& frame, const Blocks& blocks, int rank, std::size_t turn) {
  std::vector<Piece> pieces;
  for (std::size_t batch = 0; batch < (frame.a.batched ? blocks.batches.size() : 1); ++batch) {
    for (const IndexSet& rows : blocks.rows) {
      Region region{sets_of(frame.a.batched ? blocks.batches[batch] : std::vector<IndexSet>{}, rows,
                            blocks.turns[turn])};
      pieces.push_back(piece_of(frame, frame.a, std::move(region), rank));
    }
  }
  return pieces;
}

std::vector<Piece> pieces_of_b(const Frame& frame, const Blocks& blocks, int rank, std::size_t turn) {
  std::vector<Piece> pieces;
  for (std::size_t batch = 0; batch < (frame.b.batched ? blocks.batches.size() : 1); ++batch) {
    for (const IndexSet& columns : blocks.columns) {
      Region region{sets_of(frame.b.batched ? blocks.batches[batch] : std::vector<IndexSet>{},
                            blocks.turns[turn], columns)};
      pieces.push_back(piece_of(frame, frame.b, std::move(region), rank));
    }
  }
  return pieces;
}

std::vector<Product> products_of(const Frame& frame, const Blocks& blocks, int rank) {
  std::vector<Product> products;
  std::int64_t offset = 0;
  const std::int64_t item = size_of(frame.problem.compute);
  for (std::size_t b = 0; b < blocks.batches.size(); ++b) {
    for (std::size_t i = 0; i < blocks.rows.size(); ++i) {
      for (std::size_t j = 0; j < blocks.columns.size(); ++j) {
        Region region{sets_of(blocks.batches[b], blocks.rows[i], blocks.columns[j])};
        const int holder = frame.tiling.stationary_d ? rank : frame.problem.d.layout.owner(front(region));
        const bool in_place = holder == rank && !blocks.joined;
        const std::int64_t bytes = in_place ? 0 : region.size() * item;
        products.push_back({std::move(region), holder, b, i, j, in_place ? -1 : offset});
        offset += bytes;
      }
    }
  }
  return products;
}

std::vector<Region> in_cache(const Frame& frame, const Region& region, Dtype dtype) {
  const Extents& order = frame.problem.d.axis_order;
  return redistribution::split(region, cache_bytes / size_of(dtype), order, order);
}

}  // namespace partita::multiplication
