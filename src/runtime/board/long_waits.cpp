#include "runtime/board/long_waits.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "runtime/board/peer_watch.hpp"
#include "runtime/checks/rank_list.hpp"
#include "runtime/live_contexts.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {
namespace {

// A small message that was sent before may take so long.
constexpr auto grace_of_messages = std::chrono::milliseconds(900);

/// The wait is over when that rank comes to the same call, or to a call that it has not come to yet.
bool is_for_a_call(const Runtime& state, const WaitReason& reason) {
  return (reason.peer >= 0 || reason.late) && reason.kind != WaitReason::Kind::content && state.board;
}

/// The rank of that number on the context's board is in a call that this rank has not come to.
bool waits_for_my_call(const Runtime& context, int number) {
  const NodeBoard::Status mine = context.board->status(context.board->me());
  const NodeBoard::Status theirs = context.board->status(number);
  return (theirs.in_agreement && mine.agreements < theirs.agreements) || mine.executions < theirs.executions;
}

/// The same for both contexts and on all ranks: in the numbers of the context with the smaller identity.
std::string order_text(const Runtime& a, const Runtime& b) {
  const Runtime& one = a.identity < b.identity ? a : b;
  const Runtime& other = a.identity < b.identity ? b : a;
  std::vector<int> ranks;
  std::vector<std::string> calls;
  for (int number = 0; number < one.board->node_ranks(); ++number) {
    const NodeBoard::LongWait wait = one.board->long_wait(number);
    if (wait.context != one.identity && wait.context != other.identity) continue;
    ranks.push_back(one.neighbours()[static_cast<std::size_t>(number)]);
    calls.push_back(wait.operation +
                    (wait.context == one.identity ? " of one context" : " of another context"));
  }
  return fmt::format(
      "the ranks use two contexts in different orders: {}, which wait for each other; all ranks of both "
      "contexts use them in the same order",
      values_of_ranks(calls, ranks));
}

}  // namespace

void WaitNote::update() {
  if (!is_for_a_call(state_, reason_)) return;
  NodeBoard::LongWait wait;
  wait.context = state_.identity;
  wait.rank = state_.rank();
  wait.for_message = reason_.kind == WaitReason::Kind::message;
  wait.operation = reason_.operation;
  for (const int rank : reason_.late ? reason_.late() : awaited(reason_)) {
    if (rank < NodeBoard::LongWait::most_ranks)
      wait.awaited[static_cast<std::size_t>(rank / 64)] |= std::uint64_t{1} << (rank % 64);
  }
  if (is_shown_ && wait.awaited == shown_.awaited) return;
  for_each_context_of_this_thread([&](Runtime& context) { context.board->begin_long_wait(wait); });
  is_shown_ = true;
  shown_ = std::move(wait);
}

WaitNote::~WaitNote() {
  if (!is_shown_) return;
  for_each_context_of_this_thread([](Runtime& context) { context.board->end_long_wait(); });
}

/// The rank that is waited for has not come to this rank's call, or may not have sent its message.
bool OtherContextWatch::has_not_come(int number) const {
  const NodeBoard& board = *state_.board;
  const NodeBoard::Status mine = board.status(board.me()), theirs = board.status(number);
  if (reason_.kind == WaitReason::Kind::message) return true;
  if (mine.in_agreement) return theirs.agreements < mine.agreements;
  return state_.agreement_depth > 0 || theirs.executions < mine.executions;
}

/// The other context of this thread in which they wait for this rank, and rightly.
Runtime* OtherContextWatch::context_of(const NodeBoard::LongWait& theirs) const {
  Runtime* found = nullptr;
  for_each_context_of_this_thread([&](Runtime& context) {
    if (context.identity != theirs.context || &context == &state_) return;
    const std::optional<int> number = number_on_board(context, theirs.rank);
    if (!number || !theirs.waits_for(context.rank())) return;
    if (theirs.for_message || waits_for_my_call(context, *number)) found = &context;
  });
  return found;
}

std::optional<CaughtError> OtherContextWatch::look(const std::vector<int>& peers,
                                                   std::chrono::steady_clock::time_point now) {
  if (!is_for_a_call(state_, reason_)) return std::nullopt;
  for (const int peer : peers) {
    const std::optional<int> number = number_on_board(state_, peer);
    if (!number || peer == state_.rank() || !has_not_come(*number)) continue;
    const NodeBoard::LongWait theirs = state_.board->long_wait(*number);
    if (theirs.number == 0 || theirs.context == state_.identity) continue;
    Seen& seen = seen_[peer];
    if (seen.wait != theirs.number) seen = {theirs.number, now};
    if (now - seen.since < grace_of_messages) continue;
    Runtime* const other = context_of(theirs);
    if (other == nullptr) continue;
    const CaughtError why{ErrorKind::disagreement, order_text(state_, *other)};
    other->fail(why.text, why.kind);
    return why;
  }
  return std::nullopt;
}

}  // namespace partita::runtime
