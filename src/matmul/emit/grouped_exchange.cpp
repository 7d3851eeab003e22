// Exchanges in groups: each k-step in so many rounds, then the products.
#include "matmul/emit/grouped_exchange.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "matmul/emit/message_exchange.hpp"

namespace partita::multiplication {
namespace {

int rounds_for(const MatmulBuffers& buffers, std::int64_t bytes) {
  const std::int64_t worth = bytes / buffers.problem.groups->round_bytes;
  return static_cast<int>(std::clamp<std::int64_t>(worth, 1, std::max(buffers.problem.ranks() - 1, 1)));
}

/// Elements of the input that the rank's tile needs from others.
std::int64_t missing(const MatmulBuffers& buffers, int rank, bool of_a) {
  if (buffers.tile(rank).empty()) return 0;
  const Region wanted = region_of(buffers.problem, buffers.tile(rank), of_a);
  return wanted.size() - common_size(buffers.problem.input(of_a).held.by(rank), wanted);
}

}  // namespace

void find_rounds(MatmulBuffers& buffers) {
  buffers.message_bytes = buffers.problem.groups->turn_bytes;
  buffers.shortest_turn = buffers.problem.groups->shortest_turn;
  std::int64_t most = 0;
  for (int rank = 0; rank < buffers.problem.ranks(); ++rank) {
    most = std::max(most, missing(buffers, rank, true) + missing(buffers, rank, false));
  }
  const std::int64_t arriving = most * size_of(buffers.problem.a.dtype);
  buffers.turn_rounds = rounds_for(buffers, std::min(arriving, buffers.message_bytes));
  buffers.product_rounds = rounds_for(buffers, buffers.most_products * size_of(buffers.problem.compute));
}

// --- turns

/// Every message of a turn has room, in one half of the window, those of the next turn in the other. What
/// several takers get is packed once.
void MessageExchange::place_turns() {
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

void MessageExchange::send_round(std::size_t t, int round, std::vector<int>& before) {
  const std::int64_t first = t % 2 == 0 ? 0 : half_bytes_;
  const auto for_each = [&](const auto& visit) {
    for (const Message& message : gives_[t]) {
      if (rounds_.of_turn(buffers_.rank(), message.peer) != round) continue;
      visit(message, Place{buffers_.leaving, buffers_.rank(), first + message.offset, message.order});
    }
  };
  for_each([&](const Message& message, const Place& place) {
    if (message.is_packed) return;
    builder_.copy(buffers_.rank(), message.region, builder_.own(buffers_.input(message.of_a).buffer), place,
                  std::exchange(before, {}));
  });
  for_each([&](const Message& message, const Place& place) {
    sent_.at(t % 2).push_back(
        builder_.send(message.peer, place, message.bytes, rounds_.number_in_turn(t, round)));
  });
}

int MessageExchange::arrival(std::size_t t, bool of_a, std::size_t number) const {
  for (const Message& message : needs_[t]) {
    if (message.of_a == of_a && message.number == number) {
      return rounds_.of_turn(message.peer, buffers_.rank()) + 1;
    }
  }
  return 0;
}

// --- products

void MessageExchange::deliver_before(const std::vector<BlockProduct>& products, int distance) {
  if (!buffers_.delivers) return;
  const auto next = [&] {
    return distance >= buffers_.problem.ranks()
               ? buffers_.product_rounds
               : rounds_.of_products(buffers_.rank(),
                                     (buffers_.rank() + distance) % buffers_.problem.ranks());
  }();
  for (; delivered_ < next; ++delivered_) deliver(products, delivered_);
}

void MessageExchange::deliver(const std::vector<BlockProduct>& products, int round) {
  const std::int64_t number = rounds_.number_of_products(round);
  for (Arriving& arriving : products_) {
    if (rounds_.of_products(arriving.peer, buffers_.rank()) != round) continue;
    Place& place = arriving.message.place;
    arriving.message.step = builder_.receive(arriving.peer, place, arriving.bytes, number);
  }
  for (const BlockProduct& product : products) {
    const bool stays = product.holder == buffers_.rank();
    if (!stays && rounds_.of_products(buffers_.rank(), product.holder) == round) send(product, number);
  }
}

}  // namespace partita::multiplication
