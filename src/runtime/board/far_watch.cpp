#include "runtime/board/far_watch.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "runtime/board/peer_watch.hpp"
#include "runtime/checks/rank_list.hpp"
#include "runtime/live_contexts.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {
namespace {

using namespace std::chrono_literals;

// What was sent before an answer may take as long as the pause between two questions. Who waits long asks
// ever less often.
constexpr auto first_question = 400ms, between_questions = 900ms, longest_pause = 60'000ms;
constexpr auto far_answers_come_within = 600ms;

// In a large context only some of the ranks that are waited for are asked.
constexpr std::size_t most_asked = 16;

}  // namespace

std::optional<FarWatch::Found> FarWatch::look(const std::vector<int>& peers, Time now) {
  if (reason_.kind == WaitReason::Kind::content || !takes_notes(state_)) return std::nullopt;
  if (next_ == Time()) next_ = now + first_question;
  if (!asked_) {
    if (now < next_) return std::nullopt;
    const std::vector<int> ranks = ranks_to_ask_about(peers);
    if (ranks.empty()) return std::nullopt;
    asked_ = ask_nodes(state_, {}, ranks);
    asked_ranks_ = ranks.size();
    asked_at_ = now;
    return std::nullopt;
  }
  answers_ = answers_of_nodes(state_, *asked_);
  const bool have_all = answers_.size() == asked_ranks_;
  if (!have_all && now - asked_at_ < far_answers_come_within) return std::nullopt;
  asked_.reset();
  pause_ = pause_ == 0ms ? between_questions : std::min<std::chrono::milliseconds>(2 * pause_, longest_pause);
  next_ = now + std::max<std::chrono::milliseconds>(between_questions, pause_ / 2);
  return judge(peers);
}

std::vector<int> FarWatch::ranks_to_ask_about(const std::vector<int>& peers) const {
  std::vector<int> ranks = ranks_to_ask(state_);
  if (!ranks.empty()) return ranks;
  for (const int peer : peers)
    if (ranks.size() < most_asked && !state_.topology().same_node(peer, state_.rank())) ranks.push_back(peer);
  return ranks;
}

std::optional<FarWatch::Found> FarWatch::judge(const std::vector<int>& peers) {
  for (const auto& [rank, theirs] : answers_)
    if (auto found = difference_from(rank, theirs)) return found;
  std::vector<int> missing = peers;
  const NodeBoard::Status mine = state_.board->status(state_.board->me());
  for (const auto& [rank, theirs] :
       answers_)  // a check waits for all ranks, also those that send no message to this one
    if (mine.in_agreement && theirs.agreements < mine.agreements) missing.push_back(rank);
  for (const int peer : missing) {
    const auto answer = answers_.find(peer);
    if (answer == answers_.end()) continue;
    const Standing& theirs = answer->second;
    const std::uint64_t place = place_of(theirs);
    auto found = place != 0 ? absence_of(peer, theirs, place) : contexts_crossed_with(peer, theirs);
    if (found) return found;
  }
  return std::nullopt;
}

/// The first execution that both know and in which they differ.
std::optional<FarWatch::Found> FarWatch::difference_from(int rank, const Standing& theirs) const {
  const Standing mine = Standing::of(state_);
  const std::uint64_t last = std::min(mine.executions, theirs.executions);
  for (std::uint64_t number = last - std::min<std::uint64_t>(last, 40) + 1; number <= last; ++number) {
    const auto here = mine.chain(number), there = theirs.chain(number);
    if (!here || !there || *here == *there) continue;
    return Found{
        {ErrorKind::disagreement,
         fmt::format(
             "{}: the ranks execute different plans, arrays or factors: execution {} of this context is "
             "another one on rank {} than on rank {}",
             reason_.operation, number, std::max(rank, state_.rank()), std::min(rank, state_.rank()))},
        Question{Question::About::execution, number}};
  }
  return std::nullopt;
}

/// Where the rank is, if it can come to this rank's call only after this rank has come to its own; 0:
/// elsewhere.
std::uint64_t FarWatch::place_of(const Standing& theirs) const {
  const NodeBoard::Status mine = state_.board->status(state_.board->me());
  if (mine.in_agreement) return 0;
  const bool is_execution = state_.agreement_depth == 0 && reason_.kind == WaitReason::Kind::call;
  const bool in_later_check = theirs.in_agreement != 0 && theirs.agreements > mine.agreements;
  if (in_later_check && (!is_execution || theirs.executions < mine.executions))
    return 2 * theirs.agreements + 2;
  const Standing::Wait& wait = theirs.wait;
  const bool in_later_execution = !is_execution && wait.number != 0 && wait.context == state_.identity &&
                                  wait.for_message == 0 && wait.is_for(state_.rank()) &&
                                  theirs.executions > mine.executions;
  return in_later_execution ? 2 * wait.number + 1 : 0;
}

bool FarWatch::was_there_before(int rank, std::uint64_t place) {
  return std::exchange(places_[rank], place) == place;
}

std::optional<FarWatch::Found> FarWatch::absence_of(int rank, const Standing& theirs, std::uint64_t place) {
  if (!was_there_before(rank, place)) return std::nullopt;
  if (!theirs.refusal.empty()) {
    const CaughtError refusal = refusal_of_rank(rank, theirs.refusal.front());
    return Found{words_of_all_nodes(state_, reason_.operation, refusal)};
  }
  const std::string& call = theirs.in_agreement != 0 ? theirs.operation : theirs.wait.operation;
  std::vector<int> ranks{state_.rank(), rank};
  std::vector<std::string> calls{std::string(reason_.operation), call};
  if (rank < state_.rank()) {
    std::ranges::reverse(ranks);
    std::ranges::reverse(calls);
  }
  return Found{
      {ErrorKind::disagreement, "the ranks called different operations: " + values_of_ranks(calls, ranks)},
      Question{Question::About::now, theirs.executions + 1}};
}

/// The context of this thread in which the rank waits for this one, which has not come to that call.
Runtime* FarWatch::other_context_of(int rank, const Standing& theirs) const {
  const Standing::Wait& wait = theirs.wait;
  if (wait.number == 0 || wait.context == state_.identity) return nullptr;
  const NodeBoard::Status mine = state_.board->status(state_.board->me());
  const bool has_not_come =
      reason_.kind == WaitReason::Kind::message ||
      (mine.in_agreement ? theirs.agreements < mine.agreements
                         : state_.agreement_depth > 0 || theirs.executions < mine.executions);
  if (!has_not_come || rank == state_.rank()) return nullptr;
  Runtime* found = nullptr;
  for_each_context_of_this_thread([&](Runtime& context) {
    if (context.identity != wait.context || !wait.is_for(context.rank())) return;
    const NodeBoard::Status here = context.board->status(context.board->me());
    const bool is_for_my_call =
        (wait.in_agreement != 0 && here.agreements < wait.agreements) || here.executions < wait.executions;
    if (wait.for_message != 0 || is_for_my_call) found = &context;
  });
  return found;
}

/// In the numbers of the context with the smaller identity, so that it is the same for both and on all ranks.
std::string FarWatch::order_text(const Runtime& other) const {
  const Runtime& one = std::min(state_.identity, other.identity) == state_.identity ? state_ : other;
  const Runtime& second = &one == &state_ ? other : static_cast<const Runtime&>(state_);
  std::map<int, std::string> calls;
  const auto add = [&](std::uint64_t context, int rank, std::string_view operation) {
    const bool in_one = context == one.identity;
    if (rank >= 0 && (in_one || context == second.identity))
      calls.emplace(rank, fmt::format("{} of {} context", operation, in_one ? "one" : "another"));
  };
  add(state_.identity, one.rank(), reason_.operation);
  for (const auto& [rank, theirs] : answers_)
    add(theirs.wait.context, theirs.rank_in(one.identity), theirs.wait.operation);
  std::vector<int> ranks;
  std::vector<std::string> texts;
  for (auto& [rank, text] : calls) {
    ranks.push_back(rank);
    texts.push_back(std::move(text));
  }
  return fmt::format(
      "the ranks use two contexts in different orders: {}, which wait for each other; all ranks of both "
      "contexts use them in the same order",
      values_of_ranks(texts, ranks));
}

std::optional<FarWatch::Found> FarWatch::contexts_crossed_with(int rank, const Standing& theirs) {
  Runtime* const other = other_context_of(rank, theirs);
  if (other == nullptr) return std::nullopt;
  if (!was_there_before(rank, 2 * theirs.wait.number + 1)) return std::nullopt;
  const CaughtError found{ErrorKind::disagreement, order_text(*other)};
  const CaughtError why = words_of_all_nodes(state_, reason_.operation, found);
  other->fail(why.text, why.kind);
  return Found{why};
}

}  // namespace partita::runtime
