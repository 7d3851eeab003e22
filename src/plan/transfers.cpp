#include "plan/transfers.hpp"

#include <algorithm>
#include <utility>

#include "base/round.hpp"
#include "base/units.hpp"

namespace partita::planning {

std::vector<Transfer> sorted_by_key(std::vector<KeyedTransfer> transfers) {
  std::vector<KeyedTransfer*> order;
  for (KeyedTransfer& keyed : transfers) order.push_back(&keyed);
  std::ranges::stable_sort(order, {}, [](const KeyedTransfer* keyed) { return keyed->key; });
  std::vector<Transfer> list;
  list.reserve(order.size());
  for (KeyedTransfer* keyed : order) list.push_back(std::move(keyed->transfer));
  return list;
}

void announce_together(std::span<Transfer> transfers) {
  for (Transfer& transfer : transfers) {
    transfer.first = &transfer == &transfers.front();
    transfer.last = &transfer == &transfers.back();
  }
}

namespace {

/// The copy, or the accumulation, of a taken region from where it has arrived.
void deliver(PlanBuilder& builder, Transfer& transfer, const Place& from, std::vector<int> after = {}) {
  if (transfer.reduction) {
    builder.accumulate(transfer.peer, *transfer.reduction, std::move(transfer.region), from, transfer.to,
                       std::move(after));
  } else {
    builder.copy(transfer.peer, std::move(transfer.region), from, transfer.to, std::move(after));
  }
}

}  // namespace

TransferWriter::TransferWriter(PlanBuilder& builder, const TransferScratch& scratch, TransferPolicy policy)
    : builder_(builder),
      scratch_(scratch),
      policy_(policy),
      puts_(builder),
      lent_(static_cast<std::size_t>(scratch.slots)),
      sending_(builder, scratch.messages, scratch.messages_at, scratch.send_bytes, scratch.most_messages),
      receiving_(builder, scratch.messages, scratch.messages_at + scratch.send_bytes, scratch.receive_bytes,
                 scratch.most_messages) {}

void TransferWriter::expect(std::vector<Transfer>& list) {
  for (Transfer& transfer : list) {
    if (transfer.end != TransferEnd::post) continue;
    const std::int64_t size = bytes(transfer.region);
    receives_.push_back({std::move(transfer), size});
  }
}

void TransferWriter::write(std::vector<Transfer> list) {
  constexpr std::array<std::size_t, 8> steps_of = {3, 1, 3, 2, 3, 1, 2, 1};  // by end, at most or about
  std::vector<Step>& steps = builder_.plan().steps;
  std::size_t expected = steps.size() + 64;
  for (const Transfer& transfer : list) expected += steps_of[static_cast<std::size_t>(transfer.end)];
  if (expected > steps.capacity()) steps.reserve(std::max(expected, 2 * steps.capacity()));
  for (Transfer& transfer : list) write(transfer);
}

void TransferWriter::write(Transfer& transfer) {
  const int peer = transfer.peer;
  switch (transfer.end) {
    case TransferEnd::lend:
      return lend(transfer);
    case TransferEnd::keep:
      unpack_behind();
      return deliver(builder_, transfer, transfer.from);
    case TransferEnd::read:
      unpack_behind();
      if (transfer.first) builder_.wait(peer, Channel::ready);
      deliver(builder_, transfer, transfer.from);
      if (transfer.last) builder_.signal(peer, Channel::done);
      return;
    case TransferEnd::put:
      puts_.put(peer, std::move(transfer.region), transfer.from, transfer.to);
      if (transfer.last) puts_.tell(peer);
      return;
    case TransferEnd::borrow:
      unpack_behind();
      builder_.wait(peer, Channel::ready);
      deliver(builder_, transfer, slot(peer, transfer.slot));
      builder_.signal(peer, Channel::done);
      return;
    case TransferEnd::post:
      return post();
    case TransferEnd::send: {
      const std::int64_t size = bytes(transfer.region);
      return sending_.send(peer, std::move(transfer.region), transfer.from, scratch_.order, size,
                           transfer.round);
    }
    case TransferEnd::unpack:
      behind_bytes_ += receives_[passed_++].bytes;
      while (too_far_behind()) unpack_oldest();
      return post_ahead();
  }
}

// Both ends know through which slot of the giver a piece is transferred. Its last taker must have finished
// with it.
void TransferWriter::lend(Transfer& transfer) {
  Lent& lent = lent_[static_cast<std::size_t>(transfer.slot)];
  if (lent.taker >= 0) builder_.wait(lent.taker, Channel::done, lent.number);
  lent = {transfer.peer, ++given_[transfer.peer]};
  builder_.copy(builder_.rank(), std::move(transfer.region), transfer.from,
                slot(builder_.rank(), transfer.slot));
  builder_.signal(transfer.peer, Channel::ready);
}

void TransferWriter::drain() {
  std::map<int, std::int64_t> last;
  for (const Lent& lent : lent_) {
    if (lent.taker >= 0) last[lent.taker] = std::max(last[lent.taker], lent.number);
  }
  for (const auto& [taker, number] : last) builder_.wait(taker, Channel::done, number);
}

// If need be after older ones have been unpacked.
void TransferWriter::post() {
  for (++due_; posted_ < due_;) {
    while (!receiving_.fits(receives_[posted_].bytes)) unpack_oldest();
    post_next();
    post_ahead();
  }
}

void TransferWriter::post_ahead() {
  if (!policy_.posts_ahead) return;
  while (posted_ < receives_.size() && receiving_.fits(receives_[posted_].bytes)) post_next();
}

void TransferWriter::post_next() {
  ExpectedMessage& next = receives_[posted_++];
  next.message = receiving_.receive(next.transfer.peer, scratch_.order, next.bytes, next.transfer.round);
}

void TransferWriter::unpack_oldest() {
  ExpectedMessage& oldest = receives_[unpacked_++];
  receiving_.pop();
  behind_bytes_ -= oldest.bytes;
  deliver(builder_, oldest.transfer, oldest.message.place, {oldest.message.step});
}

// Half of the room is for messages that may arrive early, half for those that may be late.
bool TransferWriter::too_far_behind() const {
  return 2 * behind_bytes_ > scratch_.receive_bytes || passed_ - unpacked_ > most_behind;
}

// What is accumulated in another order would make the result depend on the distribution.
void TransferWriter::unpack_behind() {
  while (policy_.in_order && unpacked_ < passed_) unpack_oldest();
}

void TransferWriter::close() {
  while (unpacked_ < posted_) unpack_oldest();
  for (const auto& [reader, offers] : offered_.all()) builder_.wait_for(reader, Channel::done, offers);
  drain();
  puts_.close();
  builder_.finish(sending_.unfinished());
}

// --- groups

GroupWriter::GroupWriter(PlanBuilder& builder, const TransferScratch& scratch, std::int64_t half_bytes,
                         std::int64_t halves)
    : builder_(builder), scratch_(scratch), half_bytes_(half_bytes), halves_(halves) {}

void GroupWriter::write(std::vector<Transfer> given, std::vector<Transfer> taken, std::int64_t round) {
  std::vector<ExpectedMessage> arriving = receive(std::move(taken), round);
  send(std::move(given), round);
  unpack();
  arrived_ = std::move(arriving);
  half_ = (half_ + 1) % halves_;
}

void GroupWriter::close() {
  unpack();
  for (std::vector<int>& messages : sent_) builder_.finish(std::exchange(messages, {}));
}

Place GroupWriter::place(std::int64_t part, std::int64_t& used, std::int64_t bytes) const {
  return {scratch_.messages, builder_.rank(),
          part * half_bytes_ + std::exchange(used, used + round_up(bytes, cache_line)), scratch_.order};
}

std::vector<ExpectedMessage> GroupWriter::receive(std::vector<Transfer> taken, std::int64_t round) {
  std::vector<ExpectedMessage> arriving;
  std::int64_t used = 0;
  for (Transfer& transfer : taken) {
    const std::int64_t size = bytes(transfer.region);
    ReceiveWindow::Message message{transfer.from};
    if (transfer.end == TransferEnd::post) {
      message.place = place(halves_ + half_, used, size);
      message.step = builder_.receive(transfer.peer, message.place, size, round);
    }
    arriving.push_back({std::move(transfer), size, message});
  }
  return arriving;
}

void GroupWriter::send(std::vector<Transfer> given, std::int64_t round) {
  std::vector<int>& sent = sent_[half_];
  std::vector<int> before = std::exchange(sent, {});
  std::vector<std::int64_t> sizes;
  std::int64_t used = 0;
  for (Transfer& transfer : given) {
    sizes.push_back(bytes(transfer.region));
    transfer.to = place(half_, used, sizes.back());
    builder_.copy(builder_.rank(), std::move(transfer.region), transfer.from, transfer.to,
                  std::exchange(before, {}));
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    sent.push_back(builder_.send(given[i].peer, given[i].to, sizes[i], round));
  }
  if (given.empty()) sent = std::move(before);
}

// In the order of the list.
void GroupWriter::unpack() {
  for (ExpectedMessage& next : std::exchange(arrived_, {})) {
    std::vector<int> after;
    if (next.message.step >= 0) after.push_back(next.message.step);
    deliver(builder_, next.transfer, next.message.place, std::move(after));
  }
}

}  // namespace partita::planning
