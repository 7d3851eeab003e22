#include "runtime/board/far_watch.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "runtime/board/peer_watch.hpp"
#include "runtime/checks/rank_list.hpp"
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
    if (place == 0) continue;
    if (auto found = absence_of(peer, theirs, place)) return found;
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
  const bool is_of_a_call =
      reason_.kind == WaitReason::Kind::call || reason_.kind == WaitReason::Kind::signal;
  const bool is_execution = state_.agreement_depth == 0 && is_of_a_call;
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

}  // namespace partita::runtime
