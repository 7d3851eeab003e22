#include "matmul/emit/cutting.hpp"

#include <algorithm>
#include <utility>

#include "base/round.hpp"

namespace partita::multiplication {
namespace {

// Rows of a product over which the packing of the other operand costs a few per cent.
constexpr std::int64_t thin = 1024;
// A panel of lines comes from at least so many owners: a message is a small part of it.
constexpr std::int64_t least_owners = 8;

bool is_box(const Layout& layout) {
  return layout.distribution().kind() == DistributionKind::box;
}

/// What a layout makes of one dimension of a region. Parts of a grid are products, so that one line along a
/// dimension shows all of its parts; boxes must all be looked at.
Partition cut(const Layout& layout, Region region, std::size_t dimension) {
  const IndexSet whole = region.sets[dimension];
  for (std::size_t other = 0; other < region.sets.size() && !is_box(layout); ++other) {
    const std::int64_t first = region.sets[other].front();
    if (other != dimension) region.sets[other] = IndexSet::range(first, first + 1);
  }
  std::vector<IndexSet> sets;
  for (Layout::Cell& cell : layout.cells(region)) sets.push_back(std::move(cell.region.sets[dimension]));
  return partition(whole, std::move(sets));
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

bool follow_each_other(const Partition& pieces) {
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i - 1].back() >= pieces[i].front()) return false;
  }
  return true;
}

/// The number of elements of A or B that belong to one index of k.
std::int64_t slice(const MatmulBuffers& buffers, const Tile& tile, bool of_a) {
  const std::int64_t batches = buffers.problem.input(of_a).batched() ? Region{tile.batch}.size() : 1;
  return batches * (of_a ? tile.m : tile.n).size();
}

bool any(const Panels& panels) {
  return panels != Panels{};
}

/// Indices of k in one turn: what arrives from other nodes fits `message_bytes`, and panels their room.
std::int64_t longest_turn(const MatmulBuffers& buffers, const Tile& tile, const Panels& panels) {
  if (buffers.problem.topology.node_count() == 1) return std::max<std::int64_t>(tile.k.size(), 1);
  std::int64_t gathered = 0, moved = 0;
  for (const bool of_a : {true, false}) {
    const std::int64_t bytes = size_of(buffers.problem.a.dtype) * slice(buffers, tile, of_a);
    if (panels[of_a ? 0 : 1] != Panel::none) gathered += buffers.input(of_a).far ? 2 * bytes : bytes;
    if (buffers.input(of_a).moves) moved += bytes;
  }
  if (any(panels)) return std::max<std::int64_t>(buffers.panel_bytes / gathered, 1);
  if (moved == 0) return std::max<std::int64_t>(tile.k.size(), 1);
  return std::max(buffers.message_bytes / moved, buffers.shortest_turn);
}

/// Indices of k in one message of a panel that is made along k.
std::int64_t longest_piece(const MatmulBuffers& buffers, const Tile& tile, const Panels& panels) {
  std::int64_t most = 1;
  for (const bool of_a : {true, false}) {
    if (panels[of_a ? 0 : 1] == Panel::of_k) most = std::max(most, slice(buffers, tile, of_a));
  }
  return std::max<std::int64_t>(buffers.message_bytes / (size_of(buffers.problem.a.dtype) * most), 1);
}

IndexSet joined(const std::vector<IndexSet>& pieces) {
  if (pieces.size() == 1) return pieces.front();
  std::vector<Interval> intervals;
  for (const IndexSet& piece : pieces) {
    intervals.insert(intervals.end(), piece.intervals().begin(), piece.intervals().end());
  }
  return IndexSet::of(intervals);
}

/// The number of the first piece that meets what the rank holds along k.
std::size_t own_piece(const Partition& depth, const MatmulBuffers& buffers, int rank, bool of_a) {
  const Region& own = buffers.problem.input(of_a).held.by(rank);
  if (own.empty()) return 0;
  const IndexSet& held = own.sets[own.sets.size() - (of_a ? 1 : 2)];
  auto at = std::lower_bound(depth.begin(), depth.end(), held.front(),
                             [](const IndexSet& piece, std::int64_t index) { return piece.front() < index; });
  for (; at != depth.end() && at->front() <= held.back(); ++at) {
    if (held.contains(at->front())) return static_cast<std::size_t>(at - depth.begin());
  }
  return 0;
}

/// Whether D alone cuts the tile along its slowest dimension, into thin pieces, and nothing cuts the other.
bool joins(const MatmulBuffers& buffers, const Tile& tile, const Blocks& blocks, std::size_t owners_of_a,
           std::size_t owners_of_b) {
  if (buffers.tiling.stationary_d) return false;
  const int batches = buffers.problem.batches();
  const Extents order = buffers.product_order();
  for (const auto& batch : blocks.batches) {
    if (Region{batch}.size() != 1) return false;
  }
  const bool by_rows = order[batches] == batches;
  if (order[batches] < batches || order[batches + 1] < batches) return false;
  const Partition& along = by_rows ? *blocks.rows : *blocks.columns;
  const bool one_owner = by_rows ? owners_of_a == 1 || blocks.a.panel == Panel::of_lines
                                 : owners_of_b == 1 || blocks.b.panel == Panel::of_lines;
  const std::size_t across = by_rows ? blocks.columns->size() : blocks.rows->size();
  const std::int64_t extent = by_rows ? tile.m.size() : tile.n.size();
  const auto pieces = static_cast<std::int64_t>(along.size());
  return across == 1 && one_owner && pieces > 1 && extent < thin * pieces && follow_each_other(along);
}

/// Whether a panel of the tile's lines is worth its place: many owners, none of which gives much of it.
bool makes_a_panel(const Partition& owners, const IndexSet& whole) {
  return follow_each_other(owners) && std::ranges::all_of(owners, [&](const IndexSet& piece) {
           return piece.size() * least_owners <= whole.size();
         });
}

}  // namespace

Cutting::Cutting(const MatmulBuffers& buffers)
    : buffers_(buffers),
      boxes_(is_box(buffers.problem.a.layout) || is_box(buffers.problem.b.layout) ||
             is_box(buffers.problem.d.layout)) {}

Cutting::Cut Cutting::cut_lines(const Tile& tile, bool of_a) const {
  const Region region = region_of(buffers_.problem, tile, of_a);
  const Region product = region_of_d(tile);
  const std::size_t behind = of_a ? 2 : 1;
  const IndexSet& whole = of_a ? tile.m : tile.n;
  const Partition owners = cut(buffers_.problem.input(of_a).layout, region, region.sets.size() - behind);
  const Partition holders = buffers_.tiling.stationary_d  // the rank's own cell
                                ? Partition{whole}
                                : cut(buffers_.problem.d.layout, product, product.sets.size() - behind);
  Cut lines;
  if (buffers_.gathers && buffers_.input(of_a).moves) {
    if (owners.size() == 1) lines.panel = Panel::of_k;
    if (owners.size() > 1 && makes_a_panel(owners, whole)) lines.panel = Panel::of_lines;
  }
  Partition products = lines.panel == Panel::of_lines ? holders : refine(owners, holders);
  if (const int pieces = buffers_.input(of_a).line_pieces; pieces > 1)
    products = chop(products, ceil_divide(whole.size(), pieces));
  lines.owners = std::make_shared<const Partition>(owners);
  lines.products = std::make_shared<const Partition>(std::move(products));
  return lines;
}

Cutting::Cut Cutting::lines(const Tile& tile, bool of_a) {
  if (boxes_) return cut_lines(tile, of_a);
  const auto [known, is_new] = (of_a ? rows_ : columns_).try_emplace(of_a ? tile.m : tile.n);
  if (is_new) known->second = cut_lines(tile, of_a);
  return known->second;
}

// Pieces of several owners make a longer turn where each operand comes from one owner along k, or is made a
// panel along it.
Turns Cutting::cut_turns(const Tile& tile, std::int64_t longest, const Panels& panels) const {
  const Region a = region_of(buffers_.problem, tile, true), b = region_of(buffers_.problem, tile, false);
  const Partition owners_of_a = cut(buffers_.problem.a.layout, a, a.sets.size() - 1);
  const Partition owners_of_b = cut(buffers_.problem.b.layout, b, b.sets.size() - 2);
  const bool gathers = any(panels);
  const std::int64_t most = gathers ? std::min(longest, longest_piece(buffers_, tile, panels)) : longest;
  const bool must_stay = (panels[0] == Panel::of_lines && owners_of_a.size() > 1) ||
                         (panels[1] == Panel::of_lines && owners_of_b.size() > 1);
  Turns result;
  result.depth = refine(owners_of_a, owners_of_b);
  std::vector<IndexSet> open;  // pieces of the turn that is being filled
  std::int64_t indices = 0;
  const auto close = [&] {
    if (open.empty()) return;
    const IndexSet k = joined(open);
    const std::vector<IndexSet> whole{k};
    result.turns.push_back(
        {k, panels[0] == Panel::of_k ? open : whole, panels[1] == Panel::of_k ? open : whole});
    open.clear();
    indices = 0;
  };
  for (const IndexSet& own : result.depth) {
    if (must_stay || !gathers) close();
    bool begins = true;
    for (const IndexSet& piece : chop({own}, most)) {
      const bool fits = gathers && indices + piece.size() <= longest;
      if (!open.empty() && (!fits || open.back().back() >= piece.front())) close();
      if (begins) result.turn_of.push_back(result.turns.size());
      begins = false;
      open.push_back(piece);
      indices += piece.size();
    }
  }
  close();
  return result;
}

std::shared_ptr<const Turns> Cutting::turns(const Tile& tile, const Panels& panels) {
  const std::int64_t longest = longest_turn(buffers_, tile, panels);
  const auto make = [&] { return std::make_shared<const Turns>(cut_turns(tile, longest, panels)); };
  if (boxes_) return make();
  std::vector<Schedule>& known = turns_[tile.k];
  for (const Schedule& schedule : known) {
    if (schedule.longest == longest && schedule.panels == panels) return schedule.turns;
  }
  return known.emplace_back(Schedule{longest, panels, make()}).turns;
}

Blocks Cutting::products(const Tile& tile) {
  const Cut rows = lines(tile, true), columns = lines(tile, false);
  const auto pieces = [](const Cut& lines) {
    return lines.panel == Panel::none ? lines.products : lines.owners;
  };
  Blocks blocks;
  blocks.rows = rows.products;
  blocks.columns = columns.products;
  blocks.a = {pieces(rows), rows.panel};
  blocks.b = {pieces(columns), columns.panel};
  blocks.batches = batches(tile);
  blocks.joined = joins(buffers_, tile, blocks, rows.owners->size(), columns.owners->size());
  return blocks;
}

Blocks Cutting::blocks(int rank) {
  const Tile& tile = buffers_.tile(rank);
  if (tile.empty()) return {};
  Blocks blocks = products(tile);
  blocks.schedule = turns(tile, {blocks.a.panel, blocks.b.panel});
  const Partition& depth = blocks.schedule->depth;
  const std::size_t of_a = own_piece(depth, buffers_, rank, true),
                    of_b = own_piece(depth, buffers_, rank, false);
  // What the rank has of both comes first, while the rest is on its way to it. Else, of two pieces what it
  // has of A (of B, where A comes in pieces of lines), and of more Cannon's skew: so that no two ranks begin
  // with pieces of the same owner.
  const std::size_t of_two = buffers_.a.line_pieces > 1 ? of_b : of_a;
  const std::size_t skew = of_a == of_b || depth.size() == 2 ? of_two : of_a + of_b;
  blocks.first_turn = blocks.schedule->turn_of[skew % depth.size()];
  return blocks;
}

std::vector<std::vector<IndexSet>> Cutting::batches(const Tile& tile) const {
  std::vector<Partition> pieces;
  for (std::size_t i = 0; i < tile.batch.size(); ++i) {
    pieces.push_back({tile.batch[i]});
    if (!buffers_.tiling.stationary_d) pieces[i] = cut(buffers_.problem.d.layout, region_of_d(tile), i);
    for (const bool of_a : {true, false}) {
      const HeldOperand& input = buffers_.problem.input(of_a);
      if (!input.batched()) continue;
      pieces[i] = refine(pieces[i], cut(input.layout, region_of(buffers_.problem, tile, of_a), i));
    }
  }
  return combinations(pieces);
}

// A panel of lines may be read by lines that are contiguous; one along k only whole.
bool Cutting::gathers(int rank) {
  const Tile& tile = buffers_.tile(rank);
  if (tile.empty()) return true;
  const Blocks blocks = products(tile);
  const auto is_read = [&](const Input& input, const Lines& lines, const Partition& products) {
    if (lines.panel == Panel::none) return !input.moves;
    return lines.panel == Panel::of_lines || products.size() == 1 || blocks.joined;
  };
  return is_read(buffers_.a, blocks.a, *blocks.rows) && is_read(buffers_.b, blocks.b, *blocks.columns);
}

std::optional<int> Cutting::cut_dimension(int rank) {
  const Tile& tile = buffers_.tile(rank);
  if (tile.empty()) return std::nullopt;
  const Blocks blocks = products(tile);
  const bool rows = blocks.rows->size() > 1, columns = blocks.columns->size() > 1;
  if (rows == columns) return std::nullopt;
  return rows ? 0 : 1;
}

bool find_panels(MatmulBuffers& buffers) {
  if (buffers.problem.batches() > 0) return false;
  MatmulBuffers gathering = buffers;
  gathering.gathers = true;
  const std::optional<int> slowest = Cutting(gathering).cut_dimension(buffers.problem.ranks() / 2);
  gathering.turned_products = slowest && gathering.product_order()[0] != *slowest;
  Cutting cutting(gathering);
  for (int rank = 0; rank < buffers.problem.ranks(); ++rank) {
    if (!cutting.gathers(rank)) return false;
  }
  buffers.gathers = true;
  buffers.turned_products = gathering.turned_products;
  return true;
}

}  // namespace partita::multiplication
