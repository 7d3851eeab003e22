#include "runtime/board/ring_watch.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "runtime/board/long_waits.hpp"
#include "runtime/board/peer_watch.hpp"
#include "runtime/checks/node_questions.hpp"
#include "runtime/live_contexts.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {
namespace {

using namespace std::chrono_literals;

// Who waits long walks ever less often, until another walk shows that a ring may have closed.
constexpr auto first_walk = 1'000ms, between_walks = 900ms, longest_between = 60'000ms;

// What was sent before a rank waited may take so long.
constexpr auto grace_of_messages = 900ms;
// Two ranks of one context that are in different calls are found by other watches, which name all ranks.
constexpr auto grace_of_other_watches = 5'000ms;

// Rings that share ranks may be found at the same time: so long each rank listens, and all throw the same.
constexpr auto settling = 300ms;

// In a large context only some of the ranks of other nodes that are waited for are told.
constexpr std::size_t most_told = 16;

std::chrono::nanoseconds since_epoch(std::chrono::steady_clock::time_point time) {
  return time.time_since_epoch();
}

Runtime* context_of_this_thread(std::uint64_t identity) {
  Runtime* found = nullptr;
  for_each_context_of_this_thread([&](Runtime& context) {
    if (context.identity == identity) found = &context;
  });
  return found;
}

RingProbe::Awaited awaited_by(const Runtime& state, const WaitReason& reason) {
  using Kind = RingProbe::Awaited::Kind;
  const NodeBoard::Status mine = state.board->status(state.board->me());
  RingProbe::Awaited result;
  result.kind = reason.kind == WaitReason::Kind::message  ? Kind::message
                : reason.kind == WaitReason::Kind::signal ? Kind::signal
                : mine.in_agreement                       ? Kind::check
                : state.agreement_depth > 0               ? Kind::rendezvous
                                                          : Kind::execution;
  result.agreements = mine.agreements;
  result.executions = mine.executions;
  result.operation = reason.operation;
  return result;
}

}  // namespace

std::optional<CaughtError> RingWatch::look(Time now) {
  if (!is_for_a_call(state_, reason_) || !takes_notes(state_)) return std::nullopt;
  if (wait_ == 0) begin(now);
  // The wait has asked since the last look whether it is over: so it lasted when these probes came.
  for (Arrived& arrived : std::exchange(arrived_, take_probes())) handle(std::move(arrived), now);
  if (in_ring_) return decide(now);
  if (now < next_) return std::nullopt;
  latest_ = now;
  ++walks_;
  next_ = now + std::min<std::chrono::milliseconds>(between_walks * std::max(1, walks_ / 8), longest_between);
  RingProbe mine;
  mine.first = wait_;
  mine.begun = since_epoch(now).count();
  send_on(std::move(mine), now);
  return std::nullopt;
}

void RingWatch::begin(Time now) {
  wait_ =
      mix(mix(state_.identity, static_cast<std::uint64_t>(state_.rank())), ++notes_of_nodes(state_).waits);
  since_ = now;
  next_ = now + first_walk;
}

std::vector<RingWatch::Arrived> RingWatch::take_probes() const {
  std::vector<Arrived> all;
  for_each_context_of_this_thread([&](Runtime& context) {
    for (RingProbe& probe : notes_of_nodes(context).probes)
      all.push_back({context.identity, std::move(probe)});
    notes_of_nodes(context).probes.clear();
  });
  return all;
}

void RingWatch::handle(Arrived arrived, Time now) {
  RingProbe& probe = arrived.probe;
  if (!probe.found.empty()) return hear(arrived, now);
  const Holds holds = holds_up(arrived.context, probe.awaited);
  if (holds == Holds::no) return;
  probe.apart = probe.apart || holds == Holds::not_come;
  if (probe.first == wait_) {
    if (!is_ring(probe, now)) return;
    probe.found = ring_text(probe);
    return hear(arrived, now);
  }
  if (probe.first > wait_) {  // if there is a ring, the walk of this wait or of an earlier one finds it
    walks_ = 0;
    next_ = std::min(next_, std::max(now, latest_ + between_walks));
    return;
  }
  std::int64_t& latest = passed_[probe.first];
  if (probe.begun > std::exchange(latest, std::max(latest, probe.begun))) send_on(std::move(probe), now);
}

/// Whether this rank does not do what the sender waits for while its own wait lasts.
RingWatch::Holds RingWatch::holds_up(std::uint64_t context, const RingProbe::Awaited& theirs) const {
  using Kind = RingProbe::Awaited::Kind;
  const Runtime* const there = context_of_this_thread(context);
  if (there == nullptr) return Holds::no;
  const NodeBoard::Status mine = there->board->status(there->board->me());
  switch (theirs.kind) {
    case Kind::message:
    case Kind::signal:
      return Holds::not_come;
    case Kind::check:
      if (mine.agreements < theirs.agreements) return Holds::not_come;
      return mine.in_agreement && mine.agreements == theirs.agreements ? Holds::in_same_call : Holds::no;
    case Kind::rendezvous:
      return there == &state_ && reason_.operation == theirs.operation ? Holds::in_same_call
                                                                       : Holds::not_come;
    case Kind::execution:
      return mine.executions < theirs.executions ? Holds::not_come : Holds::no;
  }
  return Holds::no;
}

/// A ring of ranks that all are in one call is none: its messages are under way.
bool RingWatch::is_ring(const RingProbe& probe, Time now) const {
  if (!probe.apart) return false;
  const bool has_two_calls_of_one_context = probe.calls && !probe.several_contexts;
  const std::chrono::nanoseconds grace =
      has_two_calls_of_one_context ? grace_of_other_watches : grace_of_messages;
  return std::chrono::nanoseconds(probe.shortest) >=
         since_epoch(now) - std::chrono::nanoseconds(probe.begun) + grace;
}

void RingWatch::hear(const Arrived& verdict, Time now) {
  const RingProbe& ring = verdict.probe;
  if (heard_.try_emplace(ring.first, Heard{ring.found, now}).second) tell(ring);
  if (std::ranges::find(ring.waits, wait_) == ring.waits.end()) return;
  waited_for_in_.insert(verdict.context);
  if (!in_ring_) in_ring_ = now;
}

std::optional<CaughtError> RingWatch::decide(Time now) {
  if (now < *in_ring_ + settling) return std::nullopt;
  const auto ring = std::ranges::find_if(
      heard_, [&](const auto& heard) { return heard.second.at >= *in_ring_ - settling; });
  const CaughtError error{ErrorKind::disagreement, ring->second.text};
  for (const std::uint64_t identity : waited_for_in_) {
    Runtime* const context = identity == state_.identity ? nullptr : context_of_this_thread(identity);
    if (context != nullptr) context->fail(error);
  }
  return error;
}

void RingWatch::send_on(RingProbe probe, Time now) {
  probe.shortest = std::min<std::int64_t>(probe.shortest, std::chrono::nanoseconds(now - since_).count());
  probe.waits.push_back(wait_);
  probe.awaited = awaited_by(state_, reason_);
  add_stop(probe, state_, reason_.operation, reason_.kind == WaitReason::Kind::message);
  tell(probe);
}

void RingWatch::tell(const RingProbe& probe) const {
  const MailTopic topic = probe.found.empty() ? MailTopic::probe : MailTopic::ring;
  const std::string text = serialize(probe);
  for (const int rank : ranks_to_tell()) notes_of_nodes(state_).mail.tell(state_, rank, topic, text);
}

/// Of those that are waited for: of this node, only those that wait themselves.
std::vector<int> RingWatch::ranks_to_tell() const {
  std::vector<int> ranks;
  std::size_t far = 0;
  for (const int rank : awaited_in_call(reason_)) {
    if (rank == state_.rank()) continue;
    const std::optional<int> number = number_on_board(state_, rank);
    if (number ? state_.board->long_wait(*number).number != 0 : ++far <= most_told) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace partita::runtime
