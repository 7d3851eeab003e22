// The ways of handing a piece over, step by step.
#include <algorithm>

#include "plan/steps.hpp"
#include "redistribute/walk.hpp"

namespace partita::redistribution {

namespace {

constexpr std::size_t most_behind = 32;  // messages that have been waited for by nobody yet

}  // namespace

// --- inside a node

// The ring of the pair (giver -> taker) lies in the giver's staging.
Place Walk::slot(int giver, int taker, std::int64_t round) const {
  auto local = [&](int rank) {
    return static_cast<std::int64_t>(std::lower_bound(node_.begin(), node_.end(), rank) - node_.begin());
  };
  const auto ranks = static_cast<std::int64_t>(node_.size());
  const std::int64_t ring = (local(taker) - local(giver) - 1 + ranks) % ranks;
  const std::int64_t number = ring * staging_.slots + round % staging_.slots;
  return {shared_buffer, giver, number * staging_.chunk, problem_.source.axis_order};
}

void Walk::produce(Item& item) {
  const std::int64_t piece = produced_[item.peer]++;
  if (piece >= staging_.slots) wait(item.peer, done, piece - staging_.slots + 1);
  copy(problem_.rank, std::move(item.region), operand(source_buffer, problem_.rank),
       slot(problem_.rank, item.peer, piece));
  signal(item.peer, ready);
}

void Walk::consume(Item& item) {
  const std::int64_t piece = consumed_[item.peer]++;
  wait(item.peer, ready, piece + 1);
  deliver(item.peer, item.contribution, std::move(item.region), slot(item.peer, problem_.rank, piece));
  signal(item.peer, done);
}

void Walk::read(Item& item) {
  if (item.round == 0) wait(item.peer, ready, ++read_[item.peer]);
  deliver(item.peer, item.contribution, std::move(item.region), operand(source_buffer, item.peer));
  if (item.round + 1 == item.rounds) signal(item.peer, done);
}

void Walk::write(Item& item) {
  if (item.round == 0 && written_to_[item.peer]++ == 0) wait(item.peer, grant, 1);
  copy(problem_.rank, std::move(item.region), operand(source_buffer, problem_.rank),
       operand(destination_buffer, item.peer));
  if (item.round + 1 == item.rounds) signal(item.peer, written);
}

// --- messages: what is sent lies in the first half of the private scratch, what is received in the second

Place Walk::room(std::int64_t offset) const {
  return {private_buffer, problem_.rank, offset, problem_.source.axis_order};
}

void Walk::send(Item& item) {
  const std::int64_t bytes = problem_.bytes(item.region);
  std::vector<int> after;
  while (!sending_.fits(bytes)) after.push_back(sending_.pop());
  const int number = static_cast<int>(steps_.size()) + 1;  // of the send, behind its packing
  const Place from = room(sending_.push(bytes, number));
  copy(problem_.rank, std::move(item.region), operand(source_buffer, problem_.rank), from, std::move(after));
  push(steps_, send_step(item.peer, from, bytes));
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
    next.offset = staging_.window + receiving_.push(bytes, static_cast<int>(posted_));
    next.step = push(steps_, receive_step(next.item.peer, room(next.offset), bytes));
  }
}

void Walk::unpack_oldest() {
  Incoming& oldest = receives_[static_cast<std::size_t>(receiving_.pop())];
  behind_bytes_ -= problem_.bytes(oldest.item.region);
  deliver(oldest.item.peer, oldest.item.contribution, std::move(oldest.item.region), room(oldest.offset),
          {oldest.step});
  ++unpacked_;
}

// Half of the room is for messages that may arrive ahead of the walk, half for those that may be late.
bool Walk::too_far_behind() const {
  return 2 * behind_bytes_ > staging_.window || passed_ - unpacked_ > most_behind;
}

// What is accumulated out of turn would make the result depend on the distribution.
void Walk::unpack_behind() {
  while (problem_.accumulates && unpacked_ < passed_) unpack_oldest();
}

// --- single steps

void Walk::signal(int peer, Channel channel) {
  push(steps_, signal_step(peer, static_cast<int>(channel)));
}

void Walk::wait(int peer, Channel channel, std::int64_t count) {
  push(steps_, wait_step(peer, static_cast<int>(channel), count));
}

void Walk::copy(int owner, Region region, const Place& from, const Place& to, std::vector<int> after) {
  push(steps_, copy_step(owner, std::move(region), from, to, std::move(after)));
}

// destination[i] = first contribution; then destination[i] = reduce(destination[i], next contribution)
void Walk::deliver(int owner, int contribution, Region region, const Place& from, std::vector<int> after) {
  copy(owner, std::move(region), from, operand(destination_buffer, problem_.rank), std::move(after));
  if (!problem_.accumulates || contribution == 0) return;
  steps_.back().kind = StepKind::accumulate;
  steps_.back().reduction = problem_.source.layout.partial()->reduction;
}

}  // namespace partita::redistribution
