#include "runtime/peer_watch.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "runtime/announcement.hpp"
#include "runtime/context_state.hpp"

namespace partita {

namespace {

// What a dead peer sent before may still be on its way for so long.
constexpr auto grace = std::chrono::milliseconds(100);

// I am in execution number `mine.executions`, which the peer has not begun, and the peer is in a collective
// check that I have not begun. It cannot leave that check before I join it, and I do not before my execution
// ends, which waits for the peer. (Signals that the peer gave before are visible once its card is, and they
// did not end this wait.)
bool crossed(const NodeBoard::Status& mine, const NodeBoard::Status& theirs) {
  return !mine.in_agreement && theirs.in_agreement && theirs.executions < mine.executions &&
         theirs.agreements > mine.agreements;
}

[[noreturn]] void fail(ContextState& state, ErrorKind kind, const std::string& text) {
  state.fail(text, kind);
  throw_error(kind, text);
}

// The context of `rank`, which has this number on the board, has failed.
[[noreturn]] void fail_with(ContextState& state, std::string_view operation, int rank, int number) {
  const CaughtError theirs = state.board->failure(number);
  // A disagreement concerns this rank as much as its finder: the same error.
  if (theirs.kind == ErrorKind::disagreement) fail(state, theirs.kind, theirs.text);
  fail(state, ErrorKind::lost_peer,
       fmt::format("{}: rank {} failed: its context met this: {}", operation, rank, theirs.text));
}

}  // namespace

void refuse_failed_neighbours(ContextState& state, std::string_view operation) {
  const NodeBoard& board = *state.board;
  for (int number = 0; number < board.node_ranks(); ++number) {
    if (number == board.me() || !board.status(number).failed) continue;
    const std::vector<int> neighbours = state.topology().node_ranks(state.topology().node(state.rank()));
    fail_with(state, operation, neighbours[static_cast<std::size_t>(number)], number);
  }
}

PeerWatch::PeerWatch(ContextState& state, const WaitReason& reason) : state_(state), reason_(reason) {
  if (state_.board) neighbours_ = state_.topology().node_ranks(state_.topology().node(state_.rank()));
}

void PeerWatch::fail(ErrorKind kind, const std::string& text) {
  state_.fail(text, kind);
  throw_error(kind, text);
}

void PeerWatch::look(std::chrono::steady_clock::time_point now) {
  const std::vector<int> peers = awaited(reason_);
  if (state_.board) {
    look_for_failed_neighbours();
    compare_announcements(state_, reason_.operation);
    // Inside a check of some of the ranks only, the counts of the others say nothing.
    if (state_.agreement_depth == 0) look_for_mutual_waits(peers);
  }
  look_for_lost_peers(peers, now);
}

void PeerWatch::look_for_the_lost(std::chrono::steady_clock::time_point now) {
  if (state_.board) look_for_failed_neighbours();
  look_for_lost_peers(awaited(reason_), now);
}

void PeerWatch::look_for_failed_neighbours() {
  std::vector<int> failed;
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    const int number = static_cast<int>(i);
    if (number == state_.board->me() || !state_.board->status(number).failed) continue;
    failed.push_back(neighbours_[i]);
    if (std::find(failed_.begin(), failed_.end(), neighbours_[i]) == failed_.end()) continue;
    fail_with(state_, reason_.operation, neighbours_[i], number);
  }
  failed_ = std::move(failed);
}

void PeerWatch::look_for_mutual_waits(const std::vector<int>& peers) {
  std::map<int, Pair> pairs;
  const NodeBoard& board = *state_.board;
  for (const int peer : peers) {
    const auto place = std::find(neighbours_.begin(), neighbours_.end(), peer);
    if (place == neighbours_.end() || peer == state_.rank()) continue;
    const int number = static_cast<int>(place - neighbours_.begin());
    const Pair pair{board.status(board.me()), board.status(number)};
    if (!crossed(pair.mine, pair.theirs)) continue;
    const auto before = crossed_.find(peer);
    if (before != crossed_.end() && before->second == pair) {
      const std::string mine(reason_.operation);
      fail(ErrorKind::disagreement,
           fmt::format("the ranks called different operations: {} on rank {}; {} on rank {}", mine,
                       state_.rank(), board.operation(number), peer));
    }
    pairs.emplace(peer, pair);
  }
  crossed_ = std::move(pairs);
}

void PeerWatch::look_for_lost_peers(const std::vector<int>& peers,
                                    std::chrono::steady_clock::time_point now) {
  for (const int peer : peers) {
    if (peer == state_.rank()) continue;
    const std::string why = state_.group->lost(peer);
    if (why.empty()) {
      lost_since_.erase(peer);
      continue;
    }
    const auto since = lost_since_.emplace(peer, now).first->second;
    if (now - since >= grace) {
      fail(ErrorKind::lost_peer,
           fmt::format("{}: {} while rank {} waited for it", reason_.operation, why, state_.rank()));
    }
  }
}

}  // namespace partita
