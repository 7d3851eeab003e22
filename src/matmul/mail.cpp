#include "matmul/mail.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "plan/steps.hpp"

namespace partita::multiplication {
namespace {

constexpr std::int64_t line = 64;

std::int64_t round_up(std::int64_t bytes) {
  return (bytes + line - 1) / line * line;
}

bool contains(const Region& region, const Index& index) {
  for (int d = 0; d < index.size(); ++d) {
    if (!region.sets[static_cast<std::size_t>(d)].contains(index[d])) return false;
  }
  return true;
}

}  // namespace

Mail::Mail(const Frame& frame, Plan& plan, const Blocks& blocks) : frame_(frame), plan_(plan) {
  if (frame.problem.topology.node_count() == 1) return;
  list_needs(blocks);
  list_gives();
  size_scratch();
}

void Mail::list_needs(const Blocks& blocks) {
  needs_.resize(blocks.turns.size());
  const std::int64_t item = size_of(frame_.problem.a.dtype);
  for (std::size_t t = 0; t < needs_.size(); ++t) {
    std::int64_t offset = 0;
    for (const bool of_a : {true, false}) {
      auto pieces = of_a ? pieces_of_a(frame_, blocks, frame_.rank(), t)
                         : pieces_of_b(frame_, blocks, frame_.rank(), t);
      for (std::size_t number = 0; number < pieces.size(); ++number) {
        Piece& piece = pieces[number];
        if (frame_.same_node(piece.owner, frame_.rank())) continue;
        const std::int64_t bytes = piece.region.size() * item;
        needs_[t].push_back({piece.owner, of_a, number, std::move(piece.region), bytes, offset});
        offset += round_up(bytes);
      }
    }
    slot_bytes_ = std::max(slot_bytes_, offset);
  }
}

void Mail::list_gives() {
  const OwnPart a(frame_, frame_.a);
  const OwnPart b(frame_, frame_.b);
  for (int step = 1; step < frame_.problem.ranks(); ++step) {
    const int taker = (frame_.rank() + step) % frame_.problem.ranks();
    if (frame_.same_node(taker, frame_.rank()) || frame_.tile(taker).empty()) continue;
    list_gives_to(taker, a, b);
  }
}

// The taker's own view, restricted to what lies here.
void Mail::list_gives_to(int taker, const OwnPart& a, const OwnPart& b) {
  const Tile& tile = frame_.tile(taker);
  const bool gives_a = frame_.a.moves && a.is_read_by(taker, region_of_a(frame_, tile));
  const bool gives_b = frame_.b.moves && b.is_read_by(taker, region_of_b(frame_, tile));
  if (!gives_a && !gives_b) return;
  const Blocks blocks = blocks_of(frame_, taker);
  if (gives_.size() < blocks.turns.size()) gives_.resize(blocks.turns.size());
  const auto depth_of = [](const Region& own, bool of_a) {
    return own.sets[own.sets.size() - (of_a ? 1 : 2)];
  };
  for (std::size_t t = 0; t < blocks.turns.size(); ++t) {
    const std::int64_t k = blocks.turns[t].front();
    if (gives_a && depth_of(a.region(), true).contains(k)) {
      add_gives(t, taker, true, a.region(), pieces_of_a(frame_, blocks, taker, t));
    }
    if (gives_b && depth_of(b.region(), false).contains(k)) {
      add_gives(t, taker, false, b.region(), pieces_of_b(frame_, blocks, taker, t));
    }
  }
}

void Mail::add_gives(std::size_t t, int taker, bool of_a, const Region& own, std::vector<Piece> pieces) {
  for (std::size_t number = 0; number < pieces.size(); ++number) {
    Piece& piece = pieces[number];
    if (piece.owner != frame_.rank() || !contains(own, front(piece.region))) continue;
    const std::int64_t bytes = piece.region.size() * size_of(frame_.problem.a.dtype);
    gives_[t].push_back({taker, of_a, number, std::move(piece.region), bytes});
  }
}

void Mail::size_scratch() {
  std::int64_t largest_turn = 0;
  std::int64_t largest = 0;
  for (const auto& messages : gives_) {
    std::int64_t bytes = 0;
    for (const Message& message : messages) {
      bytes += round_up(message.bytes);
      largest = std::max(largest, round_up(message.bytes));
    }
    largest_turn = std::max(largest_turn, bytes);
  }
  window_bytes_ = std::min(2 * largest_turn, std::max(2 * largest, round_up(2 * frame_.message_bytes)));
  sending_ = redistribution::Window(window_bytes_);
}

Place Mail::slot(std::size_t t, const Message& message) const {
  const std::int64_t first = t % 2 == 0 ? 0 : slot_bytes_;
  return {frame_.arriving, frame_.rank(), first + message.offset, operand(message.of_a).axis_order};
}

Place Mail::place_of(std::size_t t, bool of_a, std::size_t number, std::vector<int>& after) {
  for (Message& message : needs_[t]) {
    if (message.of_a != of_a || message.number != number) continue;
    if (!message.awaited) after.push_back(message.step);
    message.awaited = true;
    return slot(t, message);
  }
  invariant(false, "no message brings piece {} of turn {}", number, t);
  return {};
}

void Mail::exchange(std::size_t t) {
  if (t < needs_.size()) receive(t);
  if (t < gives_.size()) send(t);
}

void Mail::receive(std::size_t t) {
  for (Message& message : needs_[t]) {
    message.step = push(plan_.steps, receive_step(message.peer, slot(t, message), message.bytes));
  }
}

void Mail::send(std::size_t t) {
  for (Message& message : gives_[t]) {
    std::vector<int> after;
    while (!sending_.fits(message.bytes)) after.push_back(sending_.pop());
    const int number = static_cast<int>(plan_.steps.size()) + 1;  // of the send, behind its packing
    const Place from{message.of_a ? frame_.a.buffer : frame_.b.buffer, frame_.rank(), 0, {}};
    const Place packed{frame_.leaving, frame_.rank(), sending_.push(message.bytes, number),
                       operand(message.of_a).axis_order};
    push(plan_.steps, copy_step(frame_.rank(), std::move(message.region), from, packed, std::move(after)));
    push(plan_.steps, send_step(message.peer, packed, message.bytes));
  }
}

void Mail::send_products(const std::vector<Product>& products) {
  const Dtype dtype = frame_.problem.compute;
  for (const Product& product : products) {
    if (frame_.same_node(product.holder, frame_.rank())) continue;
    std::int64_t offset = product.offset;
    for (const Region& piece : in_cache(frame_, product.region, dtype)) {
      const Place from{frame_.products, frame_.rank(), offset, frame_.problem.d.axis_order};
      const std::int64_t bytes = piece.size() * size_of(dtype);
      offset += bytes;
      unfinished_.push_back(push(plan_.steps, send_step(product.holder, from, bytes)));
    }
  }
}

void Mail::expect_products(const Sums& sums) {
  const Dtype dtype = frame_.problem.compute;
  std::int64_t total = 0;
  std::int64_t largest = 0;
  for (const Sum& sum : sums.sums) {
    for (const Region& piece : in_cache(frame_, sum.region, dtype)) {
      const std::int64_t bytes = piece.size() * size_of(dtype);
      for (const Contribution& from : sum.contributions) {
        if (frame_.same_node(from.rank, frame_.rank())) continue;
        products_.push_back({from.rank, bytes});
        total += round_up(bytes);
        largest = std::max(largest, round_up(bytes));
      }
    }
  }
  products_window_bytes_ = std::min(total, std::max(largest, round_up(frame_.message_bytes)));
  receiving_products_ = redistribution::Window(products_window_bytes_);
  post_products();
}

void Mail::post_products() {
  for (; posted_ < products_.size(); ++posted_) {
    Arriving& next = products_[posted_];
    if (!receiving_products_.fits(next.bytes)) return;
    next.offset = receiving_products_.push(next.bytes, static_cast<int>(posted_));
    const Place to{frame_.arriving_products, frame_.rank(), next.offset, frame_.problem.d.axis_order};
    next.step = push(plan_.steps, receive_step(next.peer, to, next.bytes));
  }
}

// What was taken before has been used by now, so that its room is free.
Place Mail::take_product(std::vector<int>& after) {
  if (next_ > 0) receiving_products_.pop();
  post_products();
  const Arriving& product = products_[next_++];
  after.push_back(product.step);
  return {frame_.arriving_products, frame_.rank(), product.offset, frame_.problem.d.axis_order};
}

void Mail::finish() {
  Step finish;
  finish.kind = StepKind::finish;
  finish.after = std::move(unfinished_);
  while (!sending_.empty()) finish.after.push_back(sending_.pop());
  if (!finish.after.empty()) push(plan_.steps, std::move(finish));
}

}  // namespace partita::multiplication
