#include "matmul/cutting.hpp"

#include <algorithm>

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

std::int64_t size(const std::vector<IndexSet>& sets) {
  std::int64_t result = 1;
  for (const IndexSet& set : sets) result *= set.size();
  return result;
}

bool follow_each_other(const Partition& pieces) {
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i - 1].back() >= pieces[i].front()) return false;
  }
  return true;
}

/// Elements of A and B that one index of k stands for.
struct Slice {
  std::int64_t a = 0;
  std::int64_t b = 0;
};
Slice slice(const Frame& frame, const Tile& tile) {
  const std::int64_t batches = size(tile.batch);
  return {(frame.a.batched ? batches : 1) * tile.m.size(), (frame.b.batched ? batches : 1) * tile.n.size()};
}

/// Indices of k in one turn: what arrives from other nodes fits `message_bytes`, and panels their room.
std::int64_t longest_turn(const Frame& frame, const Tile& tile, Panel panel_a, Panel panel_b) {
  if (frame.problem.topology.node_count() == 1) return std::max<std::int64_t>(tile.k.size(), 1);
  const Slice elements = slice(frame, tile);
  const std::int64_t item = size_of(frame.problem.a.dtype);
  if (panel_a != Panel::none || panel_b != Panel::none) {
    const std::int64_t a = panel_a == Panel::none ? 0 : frame.a.far ? 2 * elements.a : elements.a;
    const std::int64_t b = panel_b == Panel::none ? 0 : frame.b.far ? 2 * elements.b : elements.b;
    return std::max<std::int64_t>(frame.panel_bytes / (item * (a + b)), 1);
  }
  const std::int64_t bytes = item * ((frame.a.moves ? elements.a : 0) + (frame.b.moves ? elements.b : 0));
  if (bytes == 0) return std::max<std::int64_t>(tile.k.size(), 1);
  return std::max(frame.message_bytes / bytes, frame.shortest_turn);
}

/// Indices of k in one message of a panel that is made along k.
std::int64_t longest_piece(const Frame& frame, const Tile& tile, Panel panel_a, Panel panel_b) {
  const Slice elements = slice(frame, tile);
  const std::int64_t most =
      std::max(panel_a == Panel::of_k ? elements.a : 1, panel_b == Panel::of_k ? elements.b : 1);
  return std::max<std::int64_t>(frame.message_bytes / (size_of(frame.problem.a.dtype) * most), 1);
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
std::size_t own_piece(const Partition& depth, const Input& input, int rank, int dimensions_behind) {
  const Region& own = input.held.by(rank);
  if (own.empty()) return 0;
  const IndexSet& held = own.sets[own.sets.size() - static_cast<std::size_t>(dimensions_behind)];
  auto at = std::lower_bound(depth.begin(), depth.end(), held.front(),
                             [](const IndexSet& piece, std::int64_t index) { return piece.front() < index; });
  for (; at != depth.end() && at->front() <= held.back(); ++at) {
    if (held.contains(at->front())) return static_cast<std::size_t>(at - depth.begin());
  }
  return 0;
}

/// Whether D alone cuts the tile along its slowest dimension, into thin pieces, and nothing cuts the other.
bool joins(const Frame& frame, const Tile& tile, const Blocks& blocks, std::size_t owners_of_a,
           std::size_t owners_of_b) {
  if (frame.tiling.stationary_d) return false;
  const int batches = frame.problem.batches();
  const Extents order = frame.product_order();
  for (const auto& batch : blocks.batches) {
    if (size(batch) != 1) return false;
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

Cutting::Cutting(const Frame& frame)
    : frame_(frame),
      boxes_(is_box(frame.a.operand.layout) || is_box(frame.b.operand.layout) ||
             is_box(frame.problem.d.layout)) {}

Cutting::Cut Cutting::cut_lines(const Tile& tile, bool of_a) const {
  const Input& input = of_a ? frame_.a : frame_.b;
  const Region region = of_a ? region_of_a(frame_, tile) : region_of_b(frame_, tile);
  const Region product = region_of_d(tile);
  const std::size_t behind = of_a ? 2 : 1;
  const IndexSet& whole = of_a ? tile.m : tile.n;
  const Partition owners = cut(input.operand.layout, region, region.sets.size() - behind);
  const Partition holders = frame_.tiling.stationary_d  // the rank's own cell
                                ? Partition{whole}
                                : cut(frame_.problem.d.layout, product, product.sets.size() - behind);
  Cut lines;
  if (frame_.gathers && input.moves) {
    if (owners.size() == 1) lines.panel = Panel::of_k;
    if (owners.size() > 1 && makes_a_panel(owners, whole)) lines.panel = Panel::of_lines;
  }
  lines.owners = std::make_shared<const Partition>(owners);
  lines.products =
      std::make_shared<const Partition>(lines.panel == Panel::of_lines ? holders : refine(owners, holders));
  return lines;
}

Cutting::Cut Cutting::lines(const Tile& tile, bool of_a) {
  if (boxes_) return cut_lines(tile, of_a);
  BySet<Cut>& known = of_a ? rows_ : columns_;
  const IndexSet& whole = of_a ? tile.m : tile.n;
  const Cut* found = known.find(whole);
  return found != nullptr ? *found : known.keep(whole, cut_lines(tile, of_a));
}

// Pieces of several owners make a longer turn where each operand comes from one owner along k, or is made a
// panel along it.
Turns Cutting::cut_turns(const Tile& tile, std::int64_t longest, Panel panel_a, Panel panel_b) const {
  const Region a = region_of_a(frame_, tile), b = region_of_b(frame_, tile);
  const Partition owners_of_a = cut(frame_.a.operand.layout, a, a.sets.size() - 1);
  const Partition owners_of_b = cut(frame_.b.operand.layout, b, b.sets.size() - 2);
  const bool gathers = panel_a != Panel::none || panel_b != Panel::none;
  const std::int64_t most =
      gathers ? std::min(longest, longest_piece(frame_, tile, panel_a, panel_b)) : longest;
  const bool a_must_stay = panel_a == Panel::of_lines && owners_of_a.size() > 1;
  const bool b_must_stay = panel_b == Panel::of_lines && owners_of_b.size() > 1;
  Turns result;
  result.depth = refine(owners_of_a, owners_of_b);
  std::vector<IndexSet> open;  // pieces of the turn that is being filled
  std::int64_t indices = 0;
  const auto close = [&] {
    if (open.empty()) return;
    const IndexSet k = joined(open);
    const std::vector<IndexSet> whole{k};
    result.turns.push_back({k, panel_a == Panel::of_k ? open : whole, panel_b == Panel::of_k ? open : whole});
    open.clear();
    indices = 0;
  };
  for (const IndexSet& own : result.depth) {
    if (a_must_stay || b_must_stay || !gathers) close();
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

std::shared_ptr<const Turns> Cutting::turns(const Tile& tile, Panel panel_a, Panel panel_b) {
  const std::int64_t longest = longest_turn(frame_, tile, panel_a, panel_b);
  const auto make = [&] { return std::make_shared<const Turns>(cut_turns(tile, longest, panel_a, panel_b)); };
  if (boxes_) return make();
  std::vector<Schedule>* known = turns_.find(tile.k);
  if (known == nullptr) known = &turns_.keep(tile.k, {});
  for (const Schedule& schedule : *known) {
    if (schedule.longest == longest && schedule.a == panel_a && schedule.b == panel_b) return schedule.turns;
  }
  known->push_back({longest, panel_a, panel_b, make()});
  return known->back().turns;
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
  blocks.joined = joins(frame_, tile, blocks, rows.owners->size(), columns.owners->size());
  return blocks;
}

Blocks Cutting::blocks(int rank) {
  const Tile& tile = frame_.tile(rank);
  if (tile.empty()) return {};
  Blocks blocks = products(tile);
  blocks.schedule = turns(tile, blocks.a.panel, blocks.b.panel);
  const Partition& depth = blocks.schedule->depth;
  const std::size_t skew = own_piece(depth, frame_.a, rank, 1) + own_piece(depth, frame_.b, rank, 2);
  blocks.first_turn = blocks.schedule->turn_of[skew % depth.size()];
  return blocks;
}

std::vector<std::vector<IndexSet>> Cutting::batches(const Tile& tile) const {
  std::vector<Partition> pieces;
  for (std::size_t i = 0; i < tile.batch.size(); ++i) {
    pieces.push_back({tile.batch[i]});
    if (!frame_.tiling.stationary_d) pieces[i] = cut(frame_.problem.d.layout, region_of_d(tile), i);
    if (frame_.a.batched)
      pieces[i] = refine(pieces[i], cut(frame_.a.operand.layout, region_of_a(frame_, tile), i));
    if (frame_.b.batched)
      pieces[i] = refine(pieces[i], cut(frame_.b.operand.layout, region_of_b(frame_, tile), i));
  }
  return combinations(pieces);
}

// A panel of lines may be read by lines that lie together; one along k only whole.
bool Cutting::gathers(int rank) {
  const Tile& tile = frame_.tile(rank);
  if (tile.empty()) return true;
  const Blocks blocks = products(tile);
  const auto is_read = [&](const Input& input, const Lines& lines, const Partition& products) {
    if (lines.panel == Panel::none) return !input.moves;
    return lines.panel == Panel::of_lines || products.size() == 1 || blocks.joined;
  };
  return is_read(frame_.a, blocks.a, *blocks.rows) && is_read(frame_.b, blocks.b, *blocks.columns);
}

std::optional<int> Cutting::cut_dimension(int rank) {
  const Tile& tile = frame_.tile(rank);
  if (tile.empty()) return std::nullopt;
  const Blocks blocks = products(tile);
  const bool rows = blocks.rows->size() > 1, columns = blocks.columns->size() > 1;
  if (rows == columns) return std::nullopt;
  return rows ? 0 : 1;
}

bool find_panels(Frame& frame) {
  if (frame.problem.batches() > 0) return false;
  Frame gathering = frame;
  gathering.gathers = true;
  const std::optional<int> slowest = Cutting(gathering).cut_dimension(frame.problem.ranks() / 2);
  gathering.turned_products = slowest && gathering.product_order()[0] != *slowest;
  Cutting cutting(gathering);
  for (int rank = 0; rank < frame.problem.ranks(); ++rank) {
    if (!cutting.gathers(rank)) return false;
  }
  frame.gathers = true;
  frame.turned_products = gathering.turned_products;
  return true;
}

}  // namespace partita::multiplication
