#include "matmul/emit/walk.hpp"

#include <algorithm>
#include <utility>

namespace partita::multiplication {
namespace {

// Products over fewer indices of k are made in blocks of rows, each of which takes its epilogue while it is
// in cache; over more, another pass over D costs next to nothing.
constexpr std::int64_t shallow = 1024;
constexpr std::int64_t row_block = 256;

}  // namespace

Walk::Walk(const Frame& frame, planning::PlanBuilder& builder)
    : frame_(frame),
      builder_(builder),
      rank_(frame.rank()),
      cutting_(frame),
      blocks_(cutting_.blocks(rank_)),
      products_(products_of(frame, blocks_, rank_)),
      sums_(sums_of(frame, cutting_, products_)),
      mail_(frame, builder, cutting_, blocks_),
      pushes_(frame, builder, cutting_, blocks_),
      last_pass_(frame, builder) {
  const bool own_memory = (frame.problem.d.dtype != frame.problem.compute && !rounds_in_product()) ||
                          (frame.problem.in_place && (sums_.irregular || frame.problem.multiplies_nothing() ||
                                                      frame.problem.scales_product()));
  sums_buffer_ = own_memory ? frame.sums : frame.d;
  c_in_product_ = frame.problem.in_place && !own_memory;
  if (joins_panel()) whole_ = {{region_of_d(frame.tile(rank_)), rank_, 0, 0, 0, 0}};
  if (blocks_.joined) return;
  std::ranges::stable_sort(products_, {},
                           [&](const BlockProduct& product) { return turn_of(product.holder); });
}

// Devices round a sum on its way into D, where one product makes it and nothing comes after. Not to 8 bits,
// where it would have to stop at the largest number.
bool Walk::rounds_in_product() const {
  return frame_.problem.on_device() && !is_float8(frame_.problem.d.dtype) && blocks_.turns() == 1 &&
         !frame_.delivers && !sums_.irregular && !last_pass_.changes_sums(!frame_.problem.in_place);
}

// The own part comes last, so that peers can add meanwhile; each piece is reported when it is there.
int Walk::turn_of(int holder) const {
  const int distance = frame_.distance(rank_, holder);
  return distance == 0 ? frame_.problem.ranks() : distance;
}

// Products that follow each other in memory, of a panel whose lines do: one multiply makes them all.
bool Walk::joins_panel() const {
  return blocks_.joined && blocks_.lines(blocks_.rows->size() > 1).panel != Panel::none;
}

void Walk::run() {
  open();
  if (mail_.grouped() && frame_.delivers) mail_.expect_products(sums_);
  const std::size_t turns = std::max(blocks_.turns(), mail_.turns());
  std::size_t exchanged = 0;
  for (std::size_t t = 0; t < turns; ++t) {
    // Rounds of products, which begin with the last turn, follow all others.
    const bool is_last = mail_.grouped() && t + 1 >= blocks_.turns();
    for (; exchanged <= (is_last ? turns : t + 1); ++exchanged) mail_.exchange(exchanged);
    if (t < blocks_.turns()) turn(t);
  }
  for (const int owner : waited_for_) builder_.signal(owner, done);
  mail_.send_products(products_);
  gather();
  close();
}

// No rank waits before all its peers have been notified that they may start.
void Walk::open() {
  for (const bool of_a : {true, false}) {
    if (frame_.input(of_a).pushed) continue;
    const OwnPart own(frame_, of_a);
    std::vector<Region> read;
    for (const int peer : frame_.problem.topology.node_ranks(frame_.problem.topology.node(rank_))) {
      if (peer == rank_ || frame_.tile(peer).empty() || !own.is_read_by(peer)) continue;
      readers_.insert(peer);
      read.push_back(intersect(own.region(), region_of(frame_.problem, frame_.tile(peer), of_a)));
    }
    publish(frame_.input(of_a), own.region(), std::move(read));
  }
  for (const int reader : readers_) builder_.signal(reader, ready);
  pushes_.begin();
  if (sums_.irregular || frame_.problem.multiplies_nothing()) zero();
}

// What peers read of the own part: each piece once, or all of it where the pieces are no less.
void Walk::publish(const Input& input, const Region& own, std::vector<Region> read) {
  if (input.published < 0) return;
  std::ranges::stable_sort(read, std::ranges::greater(), &Region::size);
  std::vector<Region> pieces;
  std::int64_t elements = 0;
  for (Region& region : read) {
    const auto holds_it = [&](const Region& piece) { return common_size(piece, region) == region.size(); };
    if (std::ranges::any_of(pieces, holds_it)) continue;
    elements += region.size();
    pieces.push_back(std::move(region));
  }
  if (elements >= own.size() && !pieces.empty()) pieces = {own};
  for (Region& piece : pieces) {
    builder_.copy(rank_, std::move(piece), builder_.own(input.buffer), builder_.own(input.published));
  }
}

void Walk::zero() {
  const Region own = frame_.problem.d.layout.region(rank_);
  if (!own.empty()) builder_.fill(Reduction::sum, own, builder_.own(sums_buffer_));
}

// --- one turn: D[I, J] += A[I, K] B[K, J] for all blocks (I, J) and one K

Place Walk::readable(const Input& input, int owner) {
  if (owner == rank_) return builder_.own(input.buffer);
  if (waited_for_.insert(owner).second) builder_.wait(owner, ready);
  return {input.readable(), owner, 0, {}};
}

std::size_t Walk::piece_number(bool of_a, const BlockProduct& product) const {
  const std::size_t batch = frame_.problem.input(of_a).batched() ? product.batch : 0;
  return batch * blocks_.lines(of_a).pieces->size() + (of_a ? product.row : product.column);
}

Part Walk::part_of(std::size_t t, bool of_a, const BlockProduct& product, const std::vector<Piece>& pieces,
                   std::vector<int>& after) {
  const Input& input = frame_.input(of_a);
  const Lines& lines = blocks_.lines(of_a);
  if (lines.panel != Panel::none) return part_of_panel(t, of_a, product);
  const std::size_t number = piece_number(of_a, product);
  const Piece& piece = pieces[number];
  if (pushes_.brings(t, of_a, number)) return {piece.region, pushes_.place_of(t, of_a, number)};
  if (frame_.same_node(piece.owner, rank_)) return {piece.region, readable(input, piece.owner)};
  return {piece.region, mail_.place_of(t, of_a, number, after)};
}

// All of the panel, or the lines of it that the product needs.
Part Walk::part_of_panel(std::size_t t, bool of_a, const BlockProduct& product) const {
  const Tile& tile = frame_.tile(rank_);
  const IndexSet& k = blocks_.turn(t).k;
  const IndexSet& lines = product.region.sets[of_a ? 0 : 1];
  Place place = mail_.panel(t, of_a);
  if (blocks_.lines(of_a).panel == Panel::of_lines) {
    const std::int64_t before = (of_a ? tile.m : tile.n).position(lines.front());
    place.offset += before * k.size() * size_of(frame_.problem.a.dtype);
  }
  return {of_a ? Region{{lines, k}} : Region{{k, lines}}, place};
}

// What comes from other nodes arrives in its place.
void Walk::gather_panel(std::size_t t, bool of_a, const std::vector<Piece>& pieces, std::vector<int>& after) {
  if (blocks_.lines(of_a).panel == Panel::none) return;
  Place to = mail_.panel(t, of_a);
  for (std::size_t number = 0; number < pieces.size(); ++number) {
    const Piece& piece = pieces[number];
    if (frame_.same_node(piece.owner, rank_)) {
      const Place from = readable(frame_.input(of_a), piece.owner);
      builder_.copy(piece.owner, piece.region, from, to);
    } else {
      (void)mail_.place_of(t, of_a, number, after);
    }
    to.offset += piece.region.size() * size_of(frame_.problem.a.dtype);
  }
}

// For each holder those first whose pieces come first.
std::vector<const BlockProduct*> Walk::order_of(std::size_t t) const {
  std::vector<const BlockProduct*> order;
  for (const BlockProduct& product : whole_.empty() ? products_ : whole_) order.push_back(&product);
  if (blocks_.joined || (frame_.landing < 0 && !mail_.grouped())) return order;
  std::ranges::stable_sort(order, {}, [&](const BlockProduct* product) {
    const auto position = [&](bool of_a) -> std::int64_t {
      const std::size_t number = piece_number(of_a, *product);
      if (mail_.grouped()) return mail_.arrival(t, of_a, number);
      return static_cast<std::int64_t>(pushes_.position(t, of_a, number));
    };
    return std::pair(turn_of(product->holder), std::max(position(true), position(false)));
  });
  return order;
}

void Walk::turn(std::size_t t) {
  const std::vector<Piece> of_a = pieces_of(frame_, blocks_, rank_, t, true, givers_[0]);
  const std::vector<Piece> of_b = pieces_of(frame_, blocks_, rank_, t, false, givers_[1]);
  const bool last = t + 1 == blocks_.turns();
  std::vector<int> arrived;
  gather_panel(t, true, of_a, arrived);
  gather_panel(t, false, of_b, arrived);
  const std::vector<const BlockProduct*> products = order_of(t);
  for (std::size_t i = 0; i < products.size(); ++i) {
    const BlockProduct& product = *products[i];
    std::vector<int> after = std::exchange(arrived, {});
    Part a = part_of(t, true, product, of_a, after), b = part_of(t, false, product, of_b, after);
    Multiply work = frame_.product(std::move(a), std::move(b), target(product), beta_of(product, t));
    if (blocks_.joined && i > 0 && join(work, *products[i - 1], product)) continue;
    multiply(std::move(work), product.in_place() && last, std::move(after));
    const bool leaves_holder = i + 1 == products.size() || products[i + 1]->holder != product.holder;
    if (!last || !leaves_holder || blocks_.joined) continue;
    if (mail_.grouped() && i + 1 < products.size()) {
      mail_.deliver_before(products_, turn_of(products[i + 1]->holder));
    }
    announce(product.holder);
  }
  if (!last || !blocks_.joined) return;
  for (const BlockProduct& product : products_) announce(product.holder);
}

// The products follow each other in memory, as do the rows of A or the columns of B, which have one owner.
bool Walk::join(const Multiply& next, const BlockProduct& before, const BlockProduct& product) {
  auto& work = std::get<Multiply>(builder_.plan().works.back());
  const bool by_rows = before.row != product.row;
  Part& moving = by_rows ? work.a : work.b;
  const Part& more = by_rows ? next.a : next.b;
  const bool in_array = builder_.buffer(more.place.buffer).operand.has_value();
  if (before.batch != product.batch || !in_array || moving.place.buffer != more.place.buffer ||
      moving.place.rank != more.place.rank) {
    return false;
  }
  const std::size_t dimensions = work.to.region.sets.size();
  IndexSet& along = work.to.region.sets[dimensions - (by_rows ? 2 : 1)];
  std::vector<Interval> intervals(along.intervals().begin(), along.intervals().end());
  const IndexSet& added = next.to.region.sets[dimensions - (by_rows ? 2 : 1)];
  intervals.insert(intervals.end(), added.intervals().begin(), added.intervals().end());
  along = IndexSet::of(intervals);
  moving.region.sets[moving.region.sets.size() - (by_rows ? 2 : 1)] = along;
  return true;
}

Beta Walk::beta_of(const BlockProduct& product, std::size_t t) const {
  if (t > 0) return Beta::one;
  if (!product.in_place()) return Beta::zero;
  if (sums_.irregular) return Beta::one;
  return c_in_product_ ? Beta::given : Beta::zero;
}

Part Walk::target(const BlockProduct& product) const {
  if (product.in_place()) return {product.region, builder_.own(sums_buffer_)};
  return {product.region, {frame_.products, rank_, product.offset, frame_.product_order()}};
}

void Walk::multiply(Multiply work, bool complete, std::vector<int> after) {
  const bool finish_here =
      complete && !frame_.delivers && (last_pass_.changes_sums(!c_in_product_) || sums_buffer_ != frame_.d);
  if (!finish_here) {
    builder_.compute(std::move(work), std::move(after));
    return;
  }
  const std::size_t row = work.to.region.sets.size() - 2;
  const std::size_t row_of_a = work.a.region.sets.size() - 2;
  const bool depth_is_small = work.a.region.sets.back().size() <= shallow && !frame_.problem.on_device();
  const bool rows_can_be_cut = builder_.buffer(work.a.place.buffer).operand.has_value();
  const std::int64_t rows = work.to.region.sets[row].size();
  const std::int64_t most = depth_is_small && rows_can_be_cut ? row_block : std::max<std::int64_t>(rows, 1);
  for (const IndexSet& some : chop({work.to.region.sets[row]}, most)) {
    Multiply part = work;
    part.to.region.sets[row] = some;
    part.a.region.sets[row_of_a] = some;
    const Region region = part.to.region;
    builder_.compute(std::move(part), std::move(after));
    after.clear();
    const auto pieces =
        frame_.problem.on_device() ? std::vector{region} : in_cache(frame_, region, frame_.problem.compute);
    for (const Region& piece : pieces)
      last_pass_.write(piece, {piece, builder_.own(sums_buffer_)}, !c_in_product_);
  }
}

void Walk::announce(int holder) {
  if (holder == rank_ || !frame_.same_node(holder, rank_)) return;
  if (frame_.pushes_products) return pushes_.put_products(holder);
  if (takers_.insert(holder).second) builder_.signal(holder, ready);
}

// The call is over when the peers have finished with this rank's operands and products.
void Walk::close() {
  for (const int reader : readers_) builder_.wait(reader, done);
  for (const int taker : takers_) builder_.wait(taker, done);
  mail_.finish();
}

}  // namespace partita::multiplication
