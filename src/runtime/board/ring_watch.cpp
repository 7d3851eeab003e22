#include "runtime/board/ring_watch.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/serialize.hpp"
#include "runtime/checks/node_questions.hpp"
#include "runtime/checks/rank_list.hpp"
#include "runtime/live_contexts.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto first_walk = 300ms, between_walks = 900ms;
// What was sent before a rank waited may take so long.
constexpr auto grace_of_walks = 500ms;

constexpr std::string_view sending = "send";

/// No order of ranks along a ring has many walks go far.
std::uint64_t order_of(const Runtime& state, int rank) {
  return mix(state.identity, static_cast<std::uint64_t>(rank));
}

CaughtError ring_error(const RingProbe& ring) {
  const int named = std::min(ring.count, RingProbe::most_named);
  std::vector<int> ranks(ring.ranks.begin(), ring.ranks.begin() + named);
  std::ranges::sort(ranks);
  std::string who = rank_list(ranks);
  if (named < ring.count) who += fmt::format(" and {} more", ring.count - named);
  const std::string text =
      !ring.receives ? fmt::format(
                           "send: {} send to each other in a cycle and none of them receives: large "
                           "messages wait for their receivers; send_receive does both concurrently",
                           who)
      : !ring.sends
          ? fmt::format("receive: {} receive from each other in a cycle and none of them sends", who)
          : fmt::format(
                "send, receive: {} wait for each other's messages in a cycle: large messages wait for "
                "their receivers; send_receive does both concurrently",
                who);
  return {ErrorKind::disagreement, text};
}

}  // namespace

std::optional<CaughtError> RingWatch::look(Time now) {
  if (reason_.kind != WaitReason::Kind::message || reason_.peer < 0 || reason_.peer == state_.rank() ||
      state_.thread.load(std::memory_order_relaxed) != this_thread_mark())
    return std::nullopt;
  NotesOfNodes& notes = notes_of_nodes(state_);
  if (wait_ == 0) {
    wait_ = ++notes.message_waits;
    next_ = now + first_walk;
  }
  for (const RingProbe& probe : std::exchange(notes.probes, {})) {
    if (probe.first != state_.rank()) {
      if (order_of(state_, probe.first) < order_of(state_, state_.rank())) send_on(probe);
    } else if (has_come_back_twice(probe, now)) {
      return words_of_all_nodes(state_, reason_.operation, ring_error(probe));
    }
  }
  if (now >= next_) {
    send_on({.first = state_.rank(), .wait = wait_, .begun = now.time_since_epoch().count()});
    next_ = now + between_walks;
  }
  return std::nullopt;
}

bool RingWatch::has_come_back_twice(const RingProbe& probe, Time now) {
  if (probe.wait != wait_) return false;
  const Time begun{Time::duration(probe.begun)};
  if (probe.waits == waits_) return begun >= waits_since_ + grace_of_walks;
  waits_ = probe.waits;
  waits_since_ = now;
  return false;
}

void RingWatch::send_on(RingProbe probe) {
  if (probe.count == state_.size()) return;  // it goes round in a ring that it did not start in
  if (probe.count < RingProbe::most_named) probe.ranks[static_cast<std::size_t>(probe.count)] = state_.rank();
  ++probe.count;
  probe.waits = mix(mix(probe.waits, static_cast<std::uint64_t>(state_.rank())), wait_);
  (reason_.operation == sending ? probe.sends : probe.receives) = true;
  notes_of_nodes(state_).mail.tell(state_, reason_.peer, MailTopic::probe, serialize(probe));
}

}  // namespace partita::runtime
