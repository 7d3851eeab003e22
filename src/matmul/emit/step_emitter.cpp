#include "matmul/emit/step_emitter.hpp"

#include <algorithm>
#include <utility>

namespace partita::multiplication {
namespace {

// Products over fewer indices of k are made in blocks of rows, each of which takes its epilogue while it is
// in cache; over more, another pass over D costs next to nothing.
constexpr std::int64_t shallow = 1024;
constexpr std::int64_t row_block = 256;

}  // namespace

StepEmitter::StepEmitter(const MatmulBuffers& buffers, planning::PlanBuilder& builder)
    : buffers_(buffers),
      builder_(builder),
      rank_(buffers.rank()),
      cutting_(buffers),
      blocks_(cutting_.blocks(rank_)),
      products_(products_of(buffers, blocks_, rank_)),
      sums_(sums_of(buffers, cutting_, products_)),
      messages_(buffers, builder, cutting_, blocks_),
      puts_(buffers, builder, cutting_, blocks_),
      last_pass_(buffers, builder) {
  const bool own_memory =
      (buffers.problem.d.dtype != buffers.problem.compute && !rounds_in_product()) ||
      (buffers.problem.in_place &&
       (sums_.irregular || buffers.problem.multiplies_nothing() || buffers.problem.scales_product()));
  sums_buffer_ = own_memory ? buffers.sums : buffers.d;
  c_in_product_ = buffers.problem.in_place && !own_memory;
  if (joins_panel()) whole_ = {{region_of_d(buffers.tile(rank_)), rank_, 0, 0, 0, 0}};
  if (blocks_.joined) return;
  std::ranges::stable_sort(products_, {},
                           [&](const BlockProduct& product) { return turn_of(product.holder); });
}

// Devices round a sum on its way into D, where one product makes it and nothing comes after. Not to 8 bits,
// where it would have to stop at the largest number.
bool StepEmitter::rounds_in_product() const {
  return buffers_.problem.on_device() && !is_float8(buffers_.problem.d.dtype) && blocks_.turns() == 1 &&
         !buffers_.delivers && !sums_.irregular && !last_pass_.changes_sums(!buffers_.problem.in_place);
}

// The own part comes last, so that peers can add meanwhile; each piece is reported when it is there.
int StepEmitter::turn_of(int holder) const {
  const int distance = buffers_.distance(rank_, holder);
  return distance == 0 ? buffers_.problem.ranks() : distance;
}

// Products that follow each other in memory, of a panel whose lines do: one multiply makes them all.
bool StepEmitter::joins_panel() const {
  return blocks_.joined && blocks_.lines(blocks_.rows->size() > 1).panel != Panel::none;
}

void StepEmitter::run() {
  open();
  if (messages_.grouped() && buffers_.delivers) messages_.expect_products(sums_);
  const std::size_t turns = std::max(blocks_.turns(), messages_.turns());
  std::size_t exchanged = 0;
  for (std::size_t t = 0; t < turns; ++t) {
    // Rounds of products, which begin with the last turn, follow all others.
    const bool is_last = messages_.grouped() && t + 1 >= blocks_.turns();
    for (; exchanged <= (is_last ? turns : t + 1); ++exchanged) messages_.exchange(exchanged);
    if (t < blocks_.turns()) turn(t);
  }
  for (const int owner : waited_for_) builder_.signal(owner, done);
  messages_.send_products(products_);
  gather();
  close();
}

// No rank waits before all its peers have been notified that they may start.
void StepEmitter::open() {
  for (const bool of_a : {true, false}) {
    if (buffers_.input(of_a).pushed) continue;
    const OwnPart own(buffers_, of_a);
    std::vector<Region> read;
    for (const int peer : buffers_.problem.topology.node_ranks(buffers_.problem.topology.node(rank_))) {
      if (peer == rank_ || buffers_.tile(peer).empty() || !own.is_read_by(peer)) continue;
      readers_.insert(peer);
      read.push_back(intersect(own.region(), region_of(buffers_.problem, buffers_.tile(peer), of_a)));
    }
    publish(buffers_.input(of_a), own.region(), std::move(read));
  }
  for (const int reader : readers_) builder_.signal(reader, ready);
  puts_.begin();
  if (sums_.irregular || buffers_.problem.multiplies_nothing()) zero();
}

// What peers read of the own part: each piece once, or all of it where the pieces are no less.
void StepEmitter::publish(const Input& input, const Region& own, std::vector<Region> read) {
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

void StepEmitter::zero() {
  const Region own = buffers_.problem.d.layout.region(rank_);
  if (!own.empty()) builder_.fill(Reduction::sum, own, builder_.own(sums_buffer_));
}

// --- one turn: D[I, J] += A[I, K] B[K, J] for all blocks (I, J) and one K

Place StepEmitter::readable(const Input& input, int owner) {
  if (owner == rank_) return builder_.own(input.buffer);
  if (waited_for_.insert(owner).second) builder_.wait(owner, ready);
  return {input.readable(), owner, 0, {}};
}

std::size_t StepEmitter::piece_number(bool of_a, const BlockProduct& product) const {
  const std::size_t batch = buffers_.problem.input(of_a).batched() ? product.batch : 0;
  return batch * blocks_.lines(of_a).pieces->size() + (of_a ? product.row : product.column);
}

Part StepEmitter::part_of(std::size_t t, bool of_a, const BlockProduct& product,
                          const std::vector<Piece>& pieces, std::vector<int>& after) {
  const Input& input = buffers_.input(of_a);
  const Lines& lines = blocks_.lines(of_a);
  if (lines.panel != Panel::none) return part_of_panel(t, of_a, product);
  const std::size_t number = piece_number(of_a, product);
  const Piece& piece = pieces[number];
  if (puts_.brings(t, of_a, number)) return {piece.region, puts_.place_of(t, of_a, number)};
  if (buffers_.same_node(piece.owner, rank_)) return {piece.region, readable(input, piece.owner)};
  return {piece.region, messages_.place_of(t, of_a, number, after)};
}

// All of the panel, or the lines of it that the product needs.
Part StepEmitter::part_of_panel(std::size_t t, bool of_a, const BlockProduct& product) const {
  const Tile& tile = buffers_.tile(rank_);
  const IndexSet& k = blocks_.turn(t).k;
  const IndexSet& lines = product.region.sets[of_a ? 0 : 1];
  Place place = messages_.panel(t, of_a);
  if (blocks_.lines(of_a).panel == Panel::of_lines) {
    const std::int64_t before = (of_a ? tile.m : tile.n).position(lines.front());
    place.offset += before * k.size() * size_of(buffers_.problem.a.dtype);
  }
  return {of_a ? Region{{lines, k}} : Region{{k, lines}}, place};
}

// What comes from other nodes arrives in its place.
void StepEmitter::gather_panel(std::size_t t, bool of_a, const std::vector<Piece>& pieces,
                               std::vector<int>& after) {
  if (blocks_.lines(of_a).panel == Panel::none) return;
  Place to = messages_.panel(t, of_a);
  for (std::size_t number = 0; number < pieces.size(); ++number) {
    const Piece& piece = pieces[number];
    if (buffers_.same_node(piece.owner, rank_)) {
      const Place from = readable(buffers_.input(of_a), piece.owner);
      builder_.copy(piece.owner, piece.region, from, to);
    } else {
      (void)messages_.place_of(t, of_a, number, after);
    }
    to.offset += piece.region.size() * size_of(buffers_.problem.a.dtype);
  }
}

// For each holder those first whose pieces come first.
std::vector<const BlockProduct*> StepEmitter::order_of(std::size_t t) const {
  std::vector<const BlockProduct*> order;
  for (const BlockProduct& product : whole_.empty() ? products_ : whole_) order.push_back(&product);
  if (blocks_.joined || (buffers_.landing < 0 && !messages_.grouped())) return order;
  std::ranges::stable_sort(order, {}, [&](const BlockProduct* product) {
    const auto position = [&](bool of_a) -> std::int64_t {
      const std::size_t number = piece_number(of_a, *product);
      if (messages_.grouped()) return messages_.arrival(t, of_a, number);
      return static_cast<std::int64_t>(puts_.position(t, of_a, number));
    };
    return std::pair(turn_of(product->holder), std::max(position(true), position(false)));
  });
  return order;
}

void StepEmitter::turn(std::size_t t) {
  const std::vector<Piece> of_a = pieces_of(buffers_, blocks_, rank_, t, true, givers_[0]);
  const std::vector<Piece> of_b = pieces_of(buffers_, blocks_, rank_, t, false, givers_[1]);
  const bool last = t + 1 == blocks_.turns();
  std::vector<int> arrived;
  gather_panel(t, true, of_a, arrived);
  gather_panel(t, false, of_b, arrived);
  const std::vector<const BlockProduct*> products = order_of(t);
  for (std::size_t i = 0; i < products.size(); ++i) {
    const BlockProduct& product = *products[i];
    std::vector<int> after = std::exchange(arrived, {});
    Part a = part_of(t, true, product, of_a, after), b = part_of(t, false, product, of_b, after);
    Multiply work = buffers_.product(std::move(a), std::move(b), target(product), beta_of(product, t));
    if (blocks_.joined && i > 0 && join(work, *products[i - 1], product)) continue;
    multiply(std::move(work), product.in_place() && last, std::move(after));
    const bool leaves_holder = i + 1 == products.size() || products[i + 1]->holder != product.holder;
    if (!last || !leaves_holder || blocks_.joined) continue;
    if (messages_.grouped() && i + 1 < products.size()) {
      messages_.deliver_before(products_, turn_of(products[i + 1]->holder));
    }
    announce(product.holder);
  }
  if (!last || !blocks_.joined) return;
  for (const BlockProduct& product : products_) announce(product.holder);
}

// The products follow each other in memory, as do the rows of A or the columns of B, which have one owner.
bool StepEmitter::join(const Multiply& next, const BlockProduct& before, const BlockProduct& product) {
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

Beta StepEmitter::beta_of(const BlockProduct& product, std::size_t t) const {
  if (t > 0) return Beta::one;
  if (!product.in_place()) return Beta::zero;
  if (sums_.irregular) return Beta::one;
  return c_in_product_ ? Beta::given : Beta::zero;
}

Part StepEmitter::target(const BlockProduct& product) const {
  if (product.in_place()) return {product.region, builder_.own(sums_buffer_)};
  return {product.region, {buffers_.products, rank_, product.offset, buffers_.product_order()}};
}

void StepEmitter::multiply(Multiply work, bool complete, std::vector<int> after) {
  const bool finish_here = complete && !buffers_.delivers &&
                           (last_pass_.changes_sums(!c_in_product_) || sums_buffer_ != buffers_.d);
  if (!finish_here) {
    builder_.compute(std::move(work), std::move(after));
    return;
  }
  const std::size_t row = work.to.region.sets.size() - 2;
  const std::size_t row_of_a = work.a.region.sets.size() - 2;
  const bool depth_is_small = work.a.region.sets.back().size() <= shallow && !buffers_.problem.on_device();
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
    const auto pieces = buffers_.problem.on_device() ? std::vector{region}
                                                     : in_cache(buffers_, region, buffers_.problem.compute);
    for (const Region& piece : pieces)
      last_pass_.write(piece, {piece, builder_.own(sums_buffer_)}, !c_in_product_);
  }
}

void StepEmitter::announce(int holder) {
  if (holder == rank_ || !buffers_.same_node(holder, rank_)) return;
  if (buffers_.pushes_products) return puts_.put_products(holder);
  if (takers_.insert(holder).second) builder_.signal(holder, ready);
}

// The call is over when the peers have finished with this rank's operands and products.
void StepEmitter::close() {
  for (const int reader : readers_) builder_.wait(reader, done);
  for (const int taker : takers_) builder_.wait(taker, done);
  messages_.finish();
}

}  // namespace partita::multiplication
