// The ways of handing a piece over, step by step.
#include <algorithm>

#include "redistribute/walk.hpp"

namespace partita::redistribution {

namespace {

constexpr std::size_t most_behind = 32;  // messages that have been waited for by nobody yet

}  // namespace

// --- inside a node

// The ring of the pair (giver -> taker) lies in the giver's staging.
std::int64_t Walk::slot(int giver, int taker, std::int64_t round) const {
  auto local = [&](int rank) {
    return static_cast<std::int64_t>(std::lower_bound(node_.begin(), node_.end(), rank) - node_.begin());
  };
  const auto ranks = static_cast<std::int64_t>(node_.size());
  const std::int64_t ring = (local(taker) - local(giver) - 1 + ranks) % ranks;
  return ring * staging_.slots + round % staging_.slots;
}

void Walk::produce(Item& item) {
  const std::int64_t number = slot(problem_.rank, item.peer, produced_[item.peer]++);
  ring_.give(item.peer, number, std::move(item.region), builder_.own(source_buffer),
             problem_.source.axis_order);
}

void Walk::consume(Item& item) {
  const std::int64_t number = slot(item.peer, problem_.rank, consumed_[item.peer]++);
  const Place from = ring_.take(item.peer, number, problem_.source.axis_order);
  deliver(item.peer, item.contribution, std::move(item.region), from);
  ring_.taken(item.peer);
}

void Walk::read(Item& item) {
  if (item.round == 0) builder_.wait(item.peer, ready);
  deliver(item.peer, item.contribution, std::move(item.region), operand(source_buffer, item.peer));
  if (item.round + 1 == item.rounds) builder_.signal(item.peer, done);
}

void Walk::write(Item& item) {
  if (item.round == 0 && written_to_[item.peer]++ == 0) builder_.wait(item.peer, grant);
  builder_.copy(problem_.rank, std::move(item.region), builder_.own(source_buffer),
                operand(destination_buffer, item.peer));
  if (item.round + 1 == item.rounds) builder_.signal(item.peer, written);
}

// --- messages: what is sent lies in the first half of the private scratch, what is received in the second

void Walk::send(Item& item) {
  const std::int64_t bytes = problem_.bytes(item.region);
  sending_.send(item.peer, std::move(item.region), builder_.own(source_buffer), problem_.source.axis_order,
                bytes);
}

// Where the walk passes a message's key it must be posted, if need be after unpacking older ones.
void Walk::post(std::size_t message) {
  while (posted_ <= message) {
    const std::int64_t bytes = problem_.bytes(receives_[posted_].item.region);
    while (!receiving_.fits(bytes)) unpack_oldest();
    post_ahead();
  }
}

void Walk::post_ahead() {
  for (; posted_ < receives_.size(); ++posted_) {
    Incoming& next = receives_[posted_];
    const std::int64_t bytes = problem_.bytes(next.item.region);
    if (!receiving_.fits(bytes)) return;
    next.message = receiving_.receive(next.item.peer, problem_.source.axis_order, bytes);
  }
}

void Walk::unpack_oldest() {
  Incoming& oldest = receives_[unpacked_++];
  receiving_.pop();
  behind_bytes_ -= problem_.bytes(oldest.item.region);
  deliver(oldest.item.peer, oldest.item.contribution, std::move(oldest.item.region), oldest.message.place,
          {oldest.message.step});
}

// Half of the room is for messages that may arrive ahead of the walk, half for those that may be late.
bool Walk::too_far_behind() const {
  return 2 * behind_bytes_ > staging_.window || passed_ - unpacked_ > most_behind;
}

// What is accumulated out of turn would make the result depend on the distribution.
void Walk::unpack_behind() {
  while (problem_.accumulates && unpacked_ < passed_) unpack_oldest();
}

// destination[i] = first contribution; then destination[i] = reduce(destination[i], next contribution)
void Walk::deliver(int owner, int contribution, Region region, const Place& from, std::vector<int> after) {
  const Place to = builder_.own(destination_buffer);
  if (!problem_.accumulates || contribution == 0) {
    builder_.copy(owner, std::move(region), from, to, std::move(after));
  } else {
    builder_.accumulate(owner, problem_.source.layout.partial()->reduction, std::move(region), from, to,
                        std::move(after));
  }
}

}  // namespace partita::redistribution
