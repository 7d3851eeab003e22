// Exchanges in groups: each k-step in so many rounds, then the products.
#include "matmul/emit/mail_rounds.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "matmul/emit/mail.hpp"

namespace partita::multiplication {
namespace {

int rounds_for(const Frame& frame, std::int64_t bytes) {
  const std::int64_t worth = bytes / frame.problem.groups->round_bytes;
  return static_cast<int>(std::clamp<std::int64_t>(worth, 1, std::max(frame.problem.ranks() - 1, 1)));
}

/// Elements of the input that the rank's tile needs from others.
std::int64_t missing(const Frame& frame, int rank, bool of_a) {
  if (frame.tile(rank).empty()) return 0;
  const Region wanted = region_of(frame.problem, frame.tile(rank), of_a);
  return wanted.size() - common_size(frame.problem.input(of_a).held.by(rank), wanted);
}

}  // namespace

void find_rounds(Frame& frame) {
  frame.message_bytes = frame.problem.groups->turn_bytes;
  frame.shortest_turn = frame.problem.groups->shortest_turn;
  std::int64_t most = 0;
  for (int rank = 0; rank < frame.problem.ranks(); ++rank) {
    most = std::max(most, missing(frame, rank, true) + missing(frame, rank, false));
  }
  const std::int64_t arriving = most * size_of(frame.problem.a.dtype);
  frame.turn_rounds = rounds_for(frame, std::min(arriving, frame.message_bytes));
  frame.product_rounds = rounds_for(frame, frame.most_products * size_of(frame.problem.compute));
}

// --- turns

/// Every message of a turn has room, in one half of the window, those of the next turn in the other. What
/// several takers get is packed once.
void Mail::place_turns() {
  for (std::vector<Message>& messages : gives_) {
    std::multimap<std::tuple<bool, std::int64_t, std::int64_t>, const Message*> packed;
    std::int64_t bytes = 0;
    for (Message& message : messages) {
      const std::tuple key{message.of_a, message.bytes, message.region.sets.back().front()};
      const auto [begin, end] = packed.equal_range(key);
      const auto same = std::find_if(begin, end, [&](const auto& entry) {
        return entry.second->region == message.region && entry.second->order == message.order;
      });
      message.is_packed = same != end;
      message.offset = message.is_packed ? same->second->offset : bytes;
      if (message.is_packed) continue;
      packed.emplace(key, &message);
      bytes += rounded(message.bytes);
    }
    half_bytes_ = std::max(half_bytes_, bytes);
  }
  window_bytes_ = gives_.size() > 1 ? 2 * half_bytes_ : half_bytes_;
}

void Mail::send_round(std::size_t t, int round, std::vector<int>& before) {
  const std::int64_t first = t % 2 == 0 ? 0 : half_bytes_;
  const auto for_each = [&](const auto& visit) {
    for (const Message& message : gives_[t]) {
      if (rounds_.of_turn(frame_.rank(), message.peer) != round) continue;
      visit(message, Place{frame_.leaving, frame_.rank(), first + message.offset, message.order});
    }
  };
  for_each([&](const Message& message, const Place& place) {
    if (message.is_packed) return;
    builder_.copy(frame_.rank(), message.region, builder_.own(frame_.input(message.of_a).buffer), place,
                  std::exchange(before, {}));
  });
  for_each([&](const Message& message, const Place& place) {
    sent_.at(t % 2).push_back(
        builder_.send(message.peer, place, message.bytes, rounds_.number_in_turn(t, round)));
  });
}

int Mail::arrival(std::size_t t, bool of_a, std::size_t number) const {
  for (const Message& message : needs_[t]) {
    if (message.of_a == of_a && message.number == number) {
      return rounds_.of_turn(message.peer, frame_.rank()) + 1;
    }
  }
  return 0;
}

// --- products

void Mail::deliver_before(const std::vector<BlockProduct>& products, int distance) {
  if (!frame_.delivers) return;
  const auto next = [&] {
    return distance >= frame_.problem.ranks()
               ? frame_.product_rounds
               : rounds_.of_products(frame_.rank(), (frame_.rank() + distance) % frame_.problem.ranks());
  }();
  for (; delivered_ < next; ++delivered_) deliver(products, delivered_);
}

void Mail::deliver(const std::vector<BlockProduct>& products, int round) {
  const std::int64_t number = rounds_.number_of_products(round);
  for (Arriving& arriving : products_) {
    if (rounds_.of_products(arriving.peer, frame_.rank()) != round) continue;
    Place& place = arriving.message.place;
    arriving.message.step = builder_.receive(arriving.peer, place, arriving.bytes, number);
  }
  for (const BlockProduct& product : products) {
    const bool stays = product.holder == frame_.rank();
    if (!stays && rounds_.of_products(frame_.rank(), product.holder) == round) send(product, number);
  }
}

}  // namespace partita::multiplication
