#include "matmul/emit/stripes.hpp"

#include <algorithm>
#include <bit>

#include "matmul/emit/stripes_price.hpp"
#include "redistribute/split.hpp"

namespace partita::multiplication {
namespace {

// Each rank looks at all others.
constexpr int most_ranks_in_pipelines = 256;
constexpr std::int64_t aligned_lines = 256;

const IndexSet& lines_of(const Tile& tile, bool of_a) {
  return of_a ? tile.m : tile.n;
}

const IndexSet& lines_of(const Region& part, bool of_a) {
  return part.sets[of_a ? 0 : 1];
}

const IndexSet& depth_of(const Region& part, bool of_a) {
  return part.sets[of_a ? 1 : 0];
}

bool is_cut_along_k(const Problem& problem, bool of_a) {
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Region& held = problem.input(of_a).held.by(rank);
    if (!held.empty() && depth_of(held, of_a).size() < problem.k()) return true;
  }
  return false;
}

/// Whether every rank makes a range of D's rows (or of its columns), no two the same, or all make all of it.
bool are_slabs(const Problem& problem, const std::vector<Tile>& tiles) {
  std::int64_t rows = 0, columns = 0, ranks = 0;
  for (const Tile& tile : tiles) {
    if (tile.empty()) continue;
    if (tile.k.size() < problem.k() || !tile.m.is_range() || !tile.n.is_range()) return false;
    rows += tile.m.size();
    columns += tile.n.size();
    ++ranks;
  }
  const bool all_rows = rows == ranks * problem.m(), all_columns = columns == ranks * problem.n();
  return (all_rows && (all_columns || columns == problem.n())) || (all_columns && rows == problem.m());
}

/// Whether the rank that makes it keeps it.
bool stay(const Problem& problem, const std::vector<Tile>& tiles) {
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Tile& tile = tiles[static_cast<std::size_t>(rank)];
    if (!tile.empty() && !covers(problem.d.held.by(rank), region_of_d(tile))) return false;
  }
  return true;
}

bool apply(const Problem& problem, const std::vector<Tile>& tiles) {
  if (!may_pipeline(problem) || !are_slabs(problem, tiles) || !stay(problem, tiles)) return false;
  const auto comes_by_depth = [&](bool of_a) {
    return is_cut_along_k(problem, of_a) && moves(problem, tiles, of_a);
  };
  return comes_by_depth(true) || comes_by_depth(false);
}

/// One box a rank, empty where its tile is.
template <class RegionOf>
Layout boxes_of(const std::vector<Tile>& tiles, const Shape& shape, const RegionOf& region_of_tile) {
  std::vector<Box::Bounds> boxes;
  for (const Tile& tile : tiles) {
    Box::Bounds box{Extents::filled(2, 0), Extents::filled(2, 0)};
    const Region region = tile.empty() ? Region() : region_of_tile(tile);
    for (std::size_t d = 0; d < region.sets.size(); ++d) {
      box.lower[static_cast<int>(d)] = region.sets[d].front();
      box.upper[static_cast<int>(d)] = region.sets[d].back() + 1;
    }
    boxes.push_back(box);
  }
  return Layout(Box(boxes), shape, static_cast<int>(tiles.size()));
}

}  // namespace

bool may_pipeline(const Problem& problem) {
  return problem.on_device() && problem.options.memory_limit == 0 &&
         problem.ranks() <= most_ranks_in_pipelines && problem.topology.node_count() == 1 &&
         !problem.grouped() && !problem.multiplies_nothing() && problem.batches() == 0 &&
         !problem.a.layout.partial() && !problem.b.layout.partial() && size_of(problem.a.dtype) > 1;
}

bool moves(const Problem& problem, const std::vector<Tile>& tiles, bool of_a) {
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Tile& tile = tiles[static_cast<std::size_t>(rank)];
    if (tile.empty()) continue;
    if (!covers(problem.input(of_a).held.by(rank), region_of(problem, tile, of_a))) return true;
  }
  return false;
}

Layout panel_layout(const Problem& problem, const std::vector<Tile>& tiles, bool of_a) {
  const Shape& shape = problem.input(of_a).layout.shape();
  const auto is_whole = [&](const Tile& tile) {
    return !tile.empty() && lines_of(tile, of_a).size() == (of_a ? problem.m() : problem.n());
  };
  if (std::ranges::any_of(tiles, is_whole)) return Layout(Replicated(), shape, problem.ranks());
  return boxes_of(tiles, shape, [&](const Tile& tile) { return region_of(problem, tile, of_a); });
}

Layout layout_made(const Problem& problem, const std::vector<Tile>& tiles) {
  return boxes_of(tiles, problem.d.layout.shape(), region_of_d);
}

IndexSet share_of_lines(const IndexSet& lines, int count, int number) {
  const std::int64_t size = lines.size(), share = std::max<std::int64_t>(size / count, 4);
  const auto unit = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::min(share / 4, aligned_lines))));
  const auto begin = [&](int i) { return i == count ? size : size * i / count / unit * unit; };
  return redistribution::slice(lines, begin(number), begin(number + 1));
}

Tile stripe_of(const Tile& tile, const Stripes& stripes, int number) {
  Tile stripe = tile;
  IndexSet& lines = stripes.of_rows ? stripe.m : stripe.n;
  lines = share_of_lines(lines, stripes.count, number);
  return stripe;
}

std::optional<Region> part_given(const Problem& problem, bool of_a, const Region& wanted, int giver,
                                 int taker) {
  const HeldOperand& input = problem.input(of_a);
  if (common_size(wanted, input.held.by(giver)) == 0) return std::nullopt;
  Region part = intersect(wanted, input.held.by(giver));
  const std::vector<int> holders = input.layout.owners(front(part));
  if (Layout::choose_replica(holders, taker, problem.topology) != giver) return std::nullopt;
  return part;
}

IndexSet own_depth(const Problem& problem, const std::vector<Tile>& tiles, int rank) {
  const Tile& tile = tiles[static_cast<std::size_t>(rank)];
  if (tile.empty()) return {};
  std::optional<IndexSet> depth;
  for (const bool of_a : {true, false}) {
    if (!moves(problem, tiles, of_a)) continue;
    const Region wanted = region_of(problem, tile, of_a);
    if (common_size(wanted, problem.input(of_a).held.by(rank)) == 0) return {};
    const Region own = intersect(wanted, problem.input(of_a).held.by(rank));
    const IndexSet& here = depth_of(own, of_a);
    if (lines_of(own, of_a).size() < lines_of(tile, of_a).size() || !here.is_range()) return {};
    if (depth && *depth != here) return {};
    depth = here;
  }
  return depth.value_or(IndexSet());
}

std::optional<Stripes> find_stripes(const Problem& problem, const std::vector<Tile>& tiles) {
  if (!apply(problem, tiles)) return std::nullopt;
  return cheapest_stripes(problem, tiles);
}

}  // namespace partita::multiplication
