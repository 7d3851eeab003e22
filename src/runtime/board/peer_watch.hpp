// What a sleeping wait looks at: peers that have ended, neighbours whose context failed or that execute
// something else, two ranks that wait for each other in different calls, and rings of ranks that wait.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/board/far_watch.hpp"
#include "runtime/board/node_board.hpp"
#include "runtime/board/ring_watch.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/checks/verdict.hpp"

namespace partita::runtime {

/// Fails the context and throws if that of a rank of this node has failed: LostPeerError, or the
/// DisagreementError that the neighbour found. For the beginning of a call: what the failed rank left behind
/// might else let this rank believe that all is well.
void refuse_failed_neighbours(Runtime& state, std::string_view operation);

/// The place of the rank on the node's board. None: there is no board yet, or the rank is of another node.
std::optional<int> number_on_board(const Runtime& state, int rank);

/// `rank` has left the context, which had not failed, as far as this rank has heard. Any thread.
bool has_left(const Runtime& state, int rank);
/// This rank has begun executions that `rank`, of its node, has not. Any thread.
bool has_executed_less(const Runtime& state, int rank);
/// How it has left it without closing it; "": it has not. Any thread.
std::string departure(const Runtime& state, int rank);

/// What keeps a rank of this node from the call that all ranks are to come to, as they all throw it.
std::optional<CaughtError> refusal_on_node(const Runtime& state);

/// Why a wait cannot end. `ask`: of a disagreement, about what the ranks of the node find common words.
struct Hopeless {
  CaughtError error;
  std::optional<Question> ask = {};
  bool may_withdraw = false;  ///< from the execution that waits, see withdrawal.hpp
};

/// Fails the context of it and throws.
[[noreturn]] void give_up_of(Runtime& state, std::string_view mine, const Hopeless& why);

/// Looks at the rank of which a message is waited for, or its receipt of one, outside of checks of all ranks:
/// whether it is in such a check that this rank has not come to, or waits in an execution for this rank,
/// which has not begun it. It sends and receives nothing before that is over, which needs this rank.
class AwayWatch {
 public:
  AwayWatch(const Runtime& state, int peer);
  /// What the context must fail of, once this has been so for longer than what was sent before takes: a
  /// DisagreementError, or what kept the peer from its call. `mine`: this rank's call.
  std::optional<Hopeless> look(std::string_view mine);

 private:
  /// Where the peer is, as a number that is another one for each call; 0: nowhere that holds this rank up.
  std::uint64_t place_of_peer(std::string& operation) const;

  const Runtime& state_;
  int peer_;
  std::optional<int> number_;
  std::uint64_t place_ = 0;  ///< at the last look
  std::chrono::steady_clock::time_point since_;
};

/// Belongs to one wait. Nothing is held against a peer on one look alone: between two looks the wait asks
/// again whether what it waits for has come, so that what a peer did just before it ended still counts.
class PeerWatch {
 public:
  PeerWatch(Runtime& state, const WaitReason& reason);
  using Found = std::optional<Hopeless>;
  /// What makes the wait a hopeless one: a LostPeerError or DisagreementError that the context must fail of.
  Found look(std::chrono::steady_clock::time_point now);
  /// As above, except for ranks that wait for each other: another thread may call it while this rank's own
  /// thread proceeds.
  Found look_for_the_lost(std::chrono::steady_clock::time_point now);

 private:
  struct Pair {
    NodeBoard::Status mine;
    NodeBoard::Status theirs;
    friend bool operator==(const Pair&, const Pair&) = default;
  };
  Found look_for_failed_ranks();
  Found look_for_disagreement() const;
  Found look_for_mutual_waits(const std::vector<int>& peers);
  bool waits_in_vain(const NodeBoard::Status& mine, const NodeBoard::Status& theirs, int number) const;
  Found look_for_those_away(const std::vector<int>& peers);
  Found look_for_lost_peers(const std::vector<int>& peers, std::chrono::steady_clock::time_point now);

  Runtime& state_;
  const WaitReason& reason_;
  std::vector<int> neighbours_;        ///< the ranks of this node; place in here: number on the board
  std::map<int, CaughtError> failed_;  ///< as found at the last look
  std::map<int, Pair> crossed_;        ///< pairs that seemed to wait for each other at the last look
  std::map<int, AwayWatch> away_;      ///< of a rendezvous of some ranks
  FarWatch far_;
  RingWatch ring_;
  std::map<int, std::chrono::steady_clock::time_point> gone_since_;
};

}  // namespace partita::runtime
