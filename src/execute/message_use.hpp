// What the messages of a plan have to do with the copies before and behind them.
#pragma once

#include <partita/plan.hpp>
#include <vector>

namespace partita {

/// Of a plan whose messages lie in private scratch. Found once, when a plan is bound: executors that copy in
/// the background ask it what a message has to wait for.
struct MessageUse {
  enum class Side : std::uint8_t { none, out, in };

  /// By step. Of sends and of moves into private scratch: out. Of receives and of moves out of it: in. None:
  /// it does not touch that memory, or the plan has no messages.
  std::vector<Side> sides;
  /// By step; of a message: the last move before it, of its side, that touches its memory. It may start once
  /// that is done. -1: there is none.
  std::vector<int> after_move;
  /// What one side writes the other never touches, so that each side may go at its own pace. Otherwise all
  /// moves count for every message, and they must be done in the order of the plan.
  bool apart = true;
  std::int64_t largest = 0;  ///< message, in bytes
};

MessageUse find_message_use(const Plan& plan);

/// Whom the plan's messages of a kind (send, receive) go to or come from, by increasing rank.
std::vector<int> peers_of(const Plan& plan, StepKind kind);

}  // namespace partita
