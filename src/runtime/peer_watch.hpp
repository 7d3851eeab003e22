// What a sleeping wait looks at: peers that have ended, neighbours whose context failed or that execute
// something else, and two ranks that wait for each other in different calls.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "runtime/node_board.hpp"
#include "runtime/wait.hpp"

namespace partita {

/// Throws, after failing the context, if the context of a rank of this node has failed: LostPeerError, or the
/// DisagreementError that the neighbour found. For the beginning of a call: what the failed rank left behind
/// might else let this rank believe that all is well.
void refuse_failed_neighbours(ContextState& state, std::string_view operation);

/// Belongs to one wait. Nothing is held against a peer on one look alone: between two looks the wait asks
/// again whether what it waits for has come, so that what a peer did just before it ended still counts.
class PeerWatch {
 public:
  PeerWatch(ContextState& state, const WaitReason& reason);
  /// Throws, after failing the context: LostPeerError, DisagreementError.
  void look(std::chrono::steady_clock::time_point now);
  /// The same but for ranks that wait for each other: a thread may look so while this rank's own goes on.
  void look_for_the_lost(std::chrono::steady_clock::time_point now);

 private:
  struct Pair {
    NodeBoard::Status mine;
    NodeBoard::Status theirs;
    friend bool operator==(const Pair&, const Pair&) = default;
  };
  void look_for_failed_neighbours();
  void look_for_mutual_waits(const std::vector<int>& peers);
  void look_for_lost_peers(const std::vector<int>& peers, std::chrono::steady_clock::time_point now);
  [[noreturn]] void fail(ErrorKind kind, const std::string& text);

  ContextState& state_;
  const WaitReason& reason_;
  std::vector<int> neighbours_;  ///< the ranks of this node; place in here: number on the board
  std::vector<int> failed_;      ///< found failed at the last look
  std::map<int, Pair> crossed_;  ///< pairs that seemed to wait for each other at the last look
  std::map<int, std::chrono::steady_clock::time_point> lost_since_;
};

}  // namespace partita
