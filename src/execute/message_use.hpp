// What the messages of a plan have to do with the copies before and behind them.
#pragma once

#include <partita/plan.hpp>
#include <span>
#include <vector>

#include "plan/touched.hpp"

namespace partita::execution {

/// The use of private scratch by the messages of a plan, computed when a plan is bound.
struct MessageUse {
  enum class Side : std::uint8_t { none, out, in };

  /// By step. Of sends and of what writes their scratch (message_buffers): out. Of receives and of what reads
  /// it: in. None: it does not touch that memory, or computes, or the plan has no messages.
  std::vector<Side> sides;
  /// Whether packing and unpacking copy disjoint data, so that each can use a separate stream with few
  /// dependencies.
  bool apart = true;
  std::int64_t largest = 0;  ///< message, in bytes
};

MessageUse find_message_use(const Plan& plan, std::span<const planning::Touched> touched);

/// By buffer: private scratch that messages leave from or come to. Other private scratch only this rank's
/// device touches.
std::vector<bool> message_buffers(const Plan& plan);

/// Whom the plan's messages of a kind (send, receive) go to or come from, by increasing rank.
std::vector<int> peers_of(const Plan& plan, StepKind kind);

}  // namespace partita::execution
