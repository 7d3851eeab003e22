#include "matmul/emit/message_exchange.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/round.hpp"

namespace partita::multiplication {
MessageExchange::MessageExchange(const MatmulBuffers& buffers, planning::PlanBuilder& builder,
                                 Cutting& cutting, const Blocks& blocks)
    : buffers_(buffers),
      builder_(builder),
      rounds_(buffers, buffers.problem.grouped() ? builder.new_rounds() : -1),
      kinds_{blocks.a.panel, blocks.b.panel} {
  if (buffers.problem.topology.node_count() == 1) return;
  list_needs(blocks);
  list_gives(cutting);
  grouped() ? place_turns() : size_scratch();
}

/// Devices multiply what is received in place, best from a multiple of 256 bytes on.
std::int64_t MessageExchange::rounded(std::int64_t bytes) const {
  return grouped() ? round_up(bytes, 256) : planning::FifoWindow::rounded(bytes);
}

/// The dimension along which the pieces of a panel follow each other is slowest.
Extents MessageExchange::order(bool of_a, Panel panel) const {
  if (panel == Panel::none) return buffers_.problem.input(of_a).axis_order;
  return of_a == (panel == Panel::of_lines) ? Extents{0, 1} : Extents{1, 0};
}

void MessageExchange::list_needs(const Blocks& blocks) {
  needs_.resize(blocks.turns());
  panels_.resize(blocks.turns());
  for (std::size_t t = 0; t < needs_.size(); ++t) {
    std::int64_t received = 0;
    std::int64_t copied = 0;
    for (const bool of_a : {true, false}) {
      const bool only_copied = blocks.lines(of_a).panel != Panel::none && !buffers_.input(of_a).far;
      std::int64_t& bytes = only_copied ? copied : received;
      bytes = list_needs(blocks, t, of_a, bytes);
    }
    slot_bytes_ = std::max(slot_bytes_, received);
    panel_bytes_ = std::max(panel_bytes_, copied);
  }
}

// From `offset` on; returns their end. Pieces of a panel follow each other, whichever rank sends them.
std::int64_t MessageExchange::list_needs(const Blocks& blocks, std::size_t t, bool of_a,
                                         std::int64_t offset) {
  const Panel panel = blocks.lines(of_a).panel;
  const std::int64_t item = size_of(buffers_.problem.a.dtype);
  if (panel != Panel::none) panels_[t][of_a ? 0 : 1] = offset;
  if (panel != Panel::none && !buffers_.input(of_a).far) {
    const Tile& tile = buffers_.tile(buffers_.rank());
    return offset + rounded((of_a ? tile.m : tile.n).size() * blocks.turn(t).k.size() * item);
  }
  std::vector<Piece> pieces = pieces_of(buffers_, blocks, buffers_.rank(), t, of_a, givers_[of_a ? 0 : 1]);
  for (std::size_t number = 0; number < pieces.size(); ++number) {
    Piece& piece = pieces[number];
    const bool arrives = !buffers_.same_node(piece.owner, buffers_.rank());
    const std::int64_t bytes = piece.region.size() * item;
    if (arrives) {
      needs_[t].push_back(
          {piece.owner, of_a, number, std::move(piece.region), order(of_a, panel), bytes, offset});
    }
    if (panel != Panel::none) {
      offset += bytes;
    } else if (arrives) {
      offset += rounded(bytes);
    }
  }
  return rounded(offset);
}

void MessageExchange::list_gives(Cutting& cutting) {
  const OwnPart a(buffers_, true), b(buffers_, false);
  for (int step = 1; step < buffers_.problem.ranks(); ++step) {
    const int taker = (buffers_.rank() + step) % buffers_.problem.ranks();
    if (buffers_.same_node(taker, buffers_.rank()) || buffers_.tile(taker).empty()) continue;
    const bool gives_a = a.is_read_by(taker), gives_b = b.is_read_by(taker);
    if (!gives_a && !gives_b) continue;
    const Blocks blocks = cutting.blocks(taker);
    if (gives_.size() < blocks.turns()) gives_.resize(blocks.turns());
    if (gives_a) list_gives_to(taker, blocks, true, a);
    if (gives_b) list_gives_to(taker, blocks, false, b);
  }
}

// What of each k-step is stored here along k.
const MessageExchange::Given& MessageExchange::given(const Blocks& blocks, bool of_a, const IndexSet& depth) {
  const auto [at, is_new] = given_.try_emplace({blocks.schedule, of_a});
  if (!is_new) return at->second;
  const std::vector<Turn>& turns = blocks.schedule->turns;
  for (std::size_t t = 0; t < turns.size(); ++t) {
    const std::vector<IndexSet>& parts = turns[t].of(of_a);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (depth.contains(parts[part].front())) at->second.emplace_back(t, part);
    }
  }
  return at->second;
}

// The taker's own view, restricted to what is stored here.
void MessageExchange::list_gives_to(int taker, const Blocks& blocks, bool of_a, const OwnPart& own) {
  const std::vector<IndexSet>& held = own.region().sets;
  const IndexSet& depth = held[held.size() - (of_a ? 1 : 2)];
  const IndexSet& across = held[held.size() - (of_a ? 2 : 1)];
  const Partition& lines = *blocks.lines(of_a).pieces;
  std::vector<std::size_t> here;
  for (std::size_t batch = 0; batch < (buffers_.problem.input(of_a).batched() ? blocks.batches.size() : 1);
       ++batch) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (across.contains(lines[i].front())) here.push_back(batch * lines.size() + i);
    }
  }
  for (const auto& [scheduled, part] : given(blocks, of_a, depth)) {
    const std::size_t t = blocks.turn_number(scheduled);
    for (const std::size_t i : here) {
      const std::size_t number = i * blocks.turn(t).of(of_a).size() + part;
      Region region = region_of_piece(buffers_, blocks, t, of_a, number);
      if (!own.gives(taker, region)) continue;
      const std::int64_t bytes = region.size() * size_of(buffers_.problem.a.dtype);
      gives_[t].push_back(
          {taker, of_a, number, std::move(region), order(of_a, blocks.lines(of_a).panel), bytes});
    }
  }
}

void MessageExchange::size_scratch() {
  std::int64_t largest_turn = 0;
  std::int64_t largest = 0;
  for (const auto& messages : gives_) {
    std::int64_t bytes = 0;
    for (const Message& message : messages) {
      bytes += planning::FifoWindow::rounded(message.bytes);
      largest = std::max(largest, planning::FifoWindow::rounded(message.bytes));
    }
    largest_turn = std::max(largest_turn, bytes);
  }
  window_bytes_ = std::min(2 * largest_turn,
                           std::max(2 * largest, planning::FifoWindow::rounded(2 * buffers_.message_bytes)));
  sending_.emplace(builder_, buffers_.leaving, 0, window_bytes_);
}

Place MessageExchange::slot(std::size_t t, const Message& message) const {
  const std::int64_t first = t % 2 == 0 ? 0 : slot_bytes_;
  return {buffers_.arriving, buffers_.rank(), first + message.offset, message.order};
}

Place MessageExchange::panel(std::size_t t, bool of_a) const {
  const std::int64_t first = !buffers_.input(of_a).far ? 2 * slot_bytes_ : t % 2 == 0 ? 0 : slot_bytes_;
  const std::size_t side = of_a ? 0 : 1;
  return {buffers_.arriving, buffers_.rank(), first + panels_[t][side], order(of_a, kinds_[side])};
}

Place MessageExchange::place_of(std::size_t t, bool of_a, std::size_t number, std::vector<int>& after) {
  for (Message& message : needs_[t]) {
    if (message.of_a != of_a || message.number != number) continue;
    const Place place = slot(t, message);
    if (!message.awaited) land(message.peer, message.region, place, buffers_.landed, message.step, after);
    message.awaited = true;
    return landed(place, buffers_.landed);
  }
  invariant(false, "no message contains tile {} of k-step {}", number, t);
  return {};
}

/// At the same place of the other buffer, where there is one.
Place MessageExchange::landed(const Place& message, int buffer) const {
  return buffer < 0 ? message : Place{buffer, message.rank, message.offset, message.axis_order};
}

void MessageExchange::land(int peer, const Region& region, const Place& message, int buffer, int step,
                           std::vector<int>& after) {
  if (buffer < 0) return after.push_back(step);
  builder_.copy(peer, region, message, landed(message, buffer), {step});
}

void MessageExchange::exchange(std::size_t t) {
  std::vector<int>& sent = sent_.at(t % 2);
  std::vector<int> before = std::exchange(sent, {});  // of the last turn in this half of the window
  for (int round = 0; round < buffers_.turn_rounds; ++round) {
    if (t < needs_.size()) receive(t, round);
    if (t < gives_.size()) grouped() ? send_round(t, round, before) : send(t);
  }
  sent.insert(sent.end(), before.begin(), before.end());
}

void MessageExchange::receive(std::size_t t, int round) {
  for (Message& message : needs_[t]) {
    if (rounds_.of_turn(message.peer, buffers_.rank()) != round) continue;
    message.step =
        builder_.receive(message.peer, slot(t, message), message.bytes, rounds_.number_in_turn(t, round));
  }
}

void MessageExchange::send(std::size_t t) {
  for (Message& message : gives_[t]) {
    const Place from = builder_.own(buffers_.input(message.of_a).buffer);
    sending_->send(message.peer, std::move(message.region), from, message.order, message.bytes);
  }
}

// Nothing waits here: receives of products are posted after it. So where they leave from private scratch,
// there is room for all.
void MessageExchange::send_products(const std::vector<BlockProduct>& products) {
  if (grouped()) return deliver_before(products, buffers_.problem.ranks());
  for (const BlockProduct& product : products) {
    if (!buffers_.same_node(product.holder, buffers_.rank())) send(product, -1);
  }
}

void MessageExchange::send(const BlockProduct& product, std::int64_t round) {
  const Dtype dtype = buffers_.problem.compute;
  Place made{buffers_.products, buffers_.rank(), product.offset, buffers_.product_order()};
  for (Region& piece : in_cache(buffers_, product.region, dtype)) {
    Place from = made;
    const std::int64_t bytes = piece.size() * size_of(dtype);
    if (buffers_.leaving_products >= 0) {
      from = {buffers_.leaving_products, made.rank, leaving_products_bytes_, made.axis_order};
      builder_.copy(made.rank, std::move(piece), made, from);
      leaving_products_bytes_ += planning::FifoWindow::rounded(bytes);
    }
    unfinished_.push_back(builder_.send(product.holder, from, bytes, round));
    made.offset += bytes;
  }
}

void MessageExchange::expect_products(const Sums& sums) {
  const Dtype dtype = buffers_.problem.compute;
  std::int64_t total = 0;
  std::int64_t largest = 0;
  for (const Sum& sum : sums.sums) {
    for (const Region& piece : in_cache(buffers_, sum.region, dtype)) {
      const std::int64_t bytes = piece.size() * size_of(dtype);
      for (const Contribution& from : sum.contributions) {
        if (buffers_.same_node(from.rank, buffers_.rank())) continue;
        products_.push_back({from.rank, bytes});
        total += planning::FifoWindow::rounded(bytes);
        largest = std::max(largest, planning::FifoWindow::rounded(bytes));
      }
    }
  }
  if (grouped()) return place_products();
  products_window_bytes_ =
      std::min(total, std::max(largest, planning::FifoWindow::rounded(buffers_.message_bytes)));
  receiving_products_.emplace(builder_, buffers_.arriving_products, 0, products_window_bytes_);
  post_products();
}

void MessageExchange::place_products() {
  for (Arriving& next : products_) {
    next.message.place = {buffers_.arriving_products, buffers_.rank(), products_window_bytes_,
                          buffers_.product_order()};
    products_window_bytes_ += rounded(next.bytes);
  }
}

void MessageExchange::post_products() {
  for (; posted_ < products_.size(); ++posted_) {
    Arriving& next = products_[posted_];
    if (!receiving_products_->fits(next.bytes)) return;
    next.message = receiving_products_->receive(next.peer, buffers_.product_order(), next.bytes);
  }
}

// What was taken before has been used by now, so that its room is free.
Place MessageExchange::take_product(const Region& region, std::vector<int>& after) {
  if (!grouped() && next_ > 0) receiving_products_->pop();
  if (!grouped()) post_products();
  const Arriving& product = products_[next_++];
  land(product.peer, region, product.message.place, buffers_.landed_products, product.message.step, after);
  return landed(product.message.place, buffers_.landed_products);
}

void MessageExchange::finish() {
  std::vector<int> messages = std::move(unfinished_);
  if (sending_) std::ranges::copy(sending_->unfinished(), std::back_inserter(messages));
  for (const std::vector<int>& sent : sent_) std::ranges::copy(sent, std::back_inserter(messages));
  builder_.finish(std::move(messages));
}

}  // namespace partita::multiplication
