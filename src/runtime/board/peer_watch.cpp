#include "runtime/board/peer_watch.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "runtime/checks/announcement.hpp"
#include "runtime/checks/rank_list.hpp"
#include "runtime/checks/withdrawal.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {

namespace {

// What a peer sent before it ended, or left the context, may still be on its way for so long.
constexpr auto grace_of_the_dead = std::chrono::milliseconds(100);
constexpr auto grace_of_the_living = std::chrono::milliseconds(300);
constexpr auto grace_of_those_away = std::chrono::milliseconds(900);

// I am in execution number `mine.executions`, which the peer has not begun, and the peer is in a collective
// check that I have not begun. It cannot leave that check before I join it, and I do not before my execution
// ends, which waits for the peer. (Signals that the peer gave before are visible once its card is, and they
// did not end this wait.)
bool crossed(const NodeBoard::Status& mine, const NodeBoard::Status& theirs) {
  return !mine.in_agreement && theirs.in_agreement && theirs.executions < mine.executions &&
         theirs.agreements > mine.agreements;
}

/// What has kept a rank of the node from the call that this rank is in, as all ranks throw it.
std::optional<CaughtError> refusal_of(const Runtime& state, int number) {
  std::optional<CaughtError> refusal = state.board->refusal(number);
  if (!refusal || is_withdrawal(*refusal)) return std::nullopt;
  return refusal_of_rank(state.neighbours()[static_cast<std::size_t>(number)], *refusal);
}

// This rank is in `mine`, and the peer in a call that this rank has not come to.
Hopeless difference_from(const Runtime& state, std::string_view mine, const std::string& theirs, int peer) {
  const std::string text =
      theirs == mine ? fmt::format(
                           "{}: the ranks disagree on the arguments: rank {} makes a call that it has made "
                           "before, and rank {} another one",
                           mine, state.rank(), peer)
                     : fmt::format("the ranks called different operations: {} on rank {}; {} on rank {}",
                                   mine, state.rank(), theirs, peer);
  return {{ErrorKind::disagreement, text}, Question{}};
}

bool is_refusal(const Runtime& state, const CaughtError& error) {
  for (int number = 0; state.board && number < state.board->node_ranks(); ++number) {
    const auto refusal = refusal_of(state, number);
    if (refusal && refusal->text == error.text) return true;
  }
  return false;
}

// The context of `rank` has failed. What all throw, a disagreement, or what kept a rank from the call,
// concerns this rank as much as its finder: the same error.
CaughtError failure_of(const Runtime& state, std::string_view operation, int rank,
                       const CaughtError& theirs) {
  if (auto words = proposed_as(state, theirs)) return *std::move(words);
  if (theirs.of_all || theirs.kind == ErrorKind::disagreement || is_refusal(state, theirs)) return theirs;
  return {ErrorKind::lost_peer, fmt::format("{}: rank {} failed with: {}", operation, rank, theirs.text)};
}

}  // namespace

std::optional<int> number_on_board(const Runtime& state, int rank) {
  if (!state.board || !state.topology().same_node(rank, state.rank())) return std::nullopt;
  const std::vector<int> neighbours = state.neighbours();
  return static_cast<int>(std::find(neighbours.begin(), neighbours.end(), rank) - neighbours.begin());
}

void refuse_failed_neighbours(Runtime& state, std::string_view operation) {
  const NodeBoard& board = *state.board;
  for (int number = 0; number < board.node_ranks(); ++number) {
    if (number == board.me() || !board.status(number).failed) continue;
    const int rank = state.neighbours()[static_cast<std::size_t>(number)];
    state.give_up(failure_of(state, operation, rank, board.failure(number)));
  }
}

bool has_left(const Runtime& state, int rank) {
  const std::optional<int> number = number_on_board(state, rank);
  return number ? state.board->status(*number).left : !departure(state, rank).empty();
}

bool has_executed_less(const Runtime& state, int rank) {
  const std::optional<int> number = number_on_board(state, rank);
  if (!number) return false;
  const NodeBoard& board = *state.board;
  return board.executions(*number).number() < board.executions(board.me()).number();
}

std::optional<CaughtError> refusal_on_node(const Runtime& state) {
  for (int number = 0; state.board && number < state.board->node_ranks(); ++number) {
    if (auto refusal = refusal_of(state, number)) return refusal;
  }
  return std::nullopt;
}

std::string departure(const Runtime& state, int rank) {
  if (const auto number = number_on_board(state, rank)) return state.board->departure(*number);
  for (const Farewell& farewell : state.group->farewells(state.identity)) {
    if (farewell.rank == rank && !farewell.failed) return farewell.why.text;
  }
  return "";
}

void give_up_of(Runtime& state, std::string_view mine, const Hopeless& why) {
  if (why.ask) give_up_together(state, mine, why.error, *why.ask);
  state.give_up(why.error);
}

AwayWatch::AwayWatch(const Runtime& state, int peer)
    : state_(state), peer_(peer), number_(number_on_board(state, peer)) {}

std::uint64_t AwayWatch::place_of_peer(std::string& operation) const {
  const NodeBoard& board = *state_.board;
  const NodeBoard::Status here = board.status(board.me()), there = board.status(*number_);
  if (here.in_agreement) return 0;
  if (there.in_agreement && there.agreements > here.agreements) {
    operation = board.operation(*number_);
    return 2 * there.agreements;
  }
  const NodeBoard::LongWait wait = board.long_wait(*number_);
  const bool in_execution = wait.context == state_.identity && !wait.for_message &&
                            wait.waits_for(state_.rank()) && there.executions > here.executions;
  if (!in_execution) return 0;
  operation = wait.operation;
  return 2 * wait.number + 1;
}

std::optional<Hopeless> AwayWatch::look(std::string_view mine) {
  if (!number_ || peer_ == state_.rank()) return std::nullopt;
  std::string operation;
  const std::uint64_t place = place_of_peer(operation);
  const auto now = std::chrono::steady_clock::now();
  if (place_ != place) since_ = now;
  place_ = place;
  if (place == 0 || now - since_ < grace_of_those_away) return std::nullopt;
  if (auto refusal = refusal_of(state_, *number_)) return Hopeless{std::move(*refusal)};
  return difference_from(state_, mine, operation, peer_);
}

PeerWatch::PeerWatch(Runtime& state, const WaitReason& reason)
    : state_(state), reason_(reason), far_(state, reason), ring_(state, reason) {
  if (state_.board) neighbours_ = state_.neighbours();
}

PeerWatch::Found PeerWatch::look(std::chrono::steady_clock::time_point now) {
  const std::vector<int> peers = awaited(reason_);
  if (auto ring = ring_.look(now)) return Hopeless{std::move(*ring)};
  if (ring_.is_found()) return std::nullopt;
  Found found = look_for_failed_ranks();
  if (!found && state_.board) found = look_for_disagreement();
  // Inside a check of some of the ranks only, the counts of the others say nothing.
  if (!found && state_.board)
    found = state_.agreement_depth == 0 ? look_for_mutual_waits(peers) : look_for_those_away(peers);
  if (!found) {
    if (auto far = far_.look(peers, now)) found = Hopeless{std::move(far->error), far->ask};
  }
  return found ? found : look_for_lost_peers(peers, now);
}

PeerWatch::Found PeerWatch::look_for_the_lost(std::chrono::steady_clock::time_point now) {
  Found found = look_for_failed_ranks();
  return found ? found : look_for_lost_peers(awaited(reason_), now);
}

PeerWatch::Found PeerWatch::look_for_failed_ranks() {
  std::map<int, CaughtError> failed;
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    const int number = static_cast<int>(i);
    if (number == state_.board->me() || !state_.board->status(number).failed) continue;
    if (has_left_check(state_, number)) continue;
    failed.emplace(neighbours_[i], state_.board->failure(number));
  }
  for (const Farewell& farewell : state_.group->farewells(state_.identity)) {
    if (farewell.failed) failed.emplace(farewell.rank, farewell.why);
  }
  for (const auto& [rank, why] : failed) {
    if (failed_.contains(rank)) return Hopeless{failure_of(state_, reason_.operation, rank, why)};
  }
  failed_ = std::move(failed);
  return std::nullopt;
}

PeerWatch::Found PeerWatch::look_for_disagreement() const {
  // Compared in the check:
  if (withdrawals_of(state_).under_way || all_are_in_check(state_)) return std::nullopt;
  auto difference = announced_difference(state_, reason_.operation);
  if (!difference) return std::nullopt;
  return Hopeless{std::move(difference->error), difference->question,
                  may_withdraw_from(state_, difference->question)};
}

PeerWatch::Found PeerWatch::look_for_mutual_waits(const std::vector<int>& peers) {
  std::map<int, Pair> pairs;
  const NodeBoard& board = *state_.board;
  const bool may_withdraw = withdrawals_of(state_).possible;
  for (const int peer : may_withdraw ? neighbours_ : peers) {
    const auto place = std::find(neighbours_.begin(), neighbours_.end(), peer);
    if (place == neighbours_.end() || peer == state_.rank()) continue;
    const int number = static_cast<int>(place - neighbours_.begin());
    const Pair pair{board.status(board.me()), board.status(number)};
    if (!waits_in_vain(pair.mine, pair.theirs, number)) continue;
    const auto before = crossed_.find(peer);
    if (before != crossed_.end() && before->second == pair) {
      for (const int either : {number, board.me()}) {
        if (auto refusal = refusal_of(state_, either)) return Hopeless{std::move(*refusal), {}, may_withdraw};
      }
      Hopeless found = difference_from(state_, reason_.operation, board.operation(number), peer);
      found.may_withdraw = may_withdraw;
      return found;
    }
    pairs.emplace(peer, pair);
  }
  crossed_ = std::move(pairs);
  return std::nullopt;
}

// A rank that has withdrawn from an execution that it had begun comes to it no more, either.
bool PeerWatch::waits_in_vain(const NodeBoard::Status& mine, const NodeBoard::Status& theirs,
                              int number) const {
  if (crossed(mine, theirs)) return true;
  return !mine.in_agreement && theirs.in_agreement && theirs.executions == mine.executions &&
         theirs.agreements > mine.agreements && has_withdrawn(state_, number);
}

PeerWatch::Found PeerWatch::look_for_those_away(const std::vector<int>& peers) {
  for (const int peer : peers) {
    if (auto found = away_.try_emplace(peer, state_, peer).first->second.look(reason_.operation))
      return found;
  }
  return std::nullopt;
}

PeerWatch::Found PeerWatch::look_for_lost_peers(const std::vector<int>& peers,
                                                std::chrono::steady_clock::time_point now) {
  for (const int peer : peers) {
    if (peer == state_.rank()) continue;
    const std::string lost = state_.group->lost(peer);
    const std::string left = departure(state_, peer);
    if (lost.empty() && left.empty()) {
      gone_since_.erase(peer);
      continue;
    }
    const auto since = gone_since_.emplace(peer, now).first->second;
    if (now - since < (lost.empty() ? grace_of_the_living : grace_of_the_dead)) continue;
    return Hopeless{
        {ErrorKind::lost_peer,
         fmt::format("{}: {} while rank {} waited for it", reason_.operation,
                     left.empty() ? lost : fmt::format("rank {} {}", peer, left), state_.rank())}};
  }
  return std::nullopt;
}

}  // namespace partita::runtime
