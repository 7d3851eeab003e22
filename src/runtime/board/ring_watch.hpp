// Rings of ranks that wait for each other's messages: each tells the rank that it waits for, which tells the
// one that it waits for, until the walk comes back (edge chasing: Chandy, Misra, Haas 1983).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "runtime/board/wait.hpp"
#include "runtime/checks/error_kind.hpp"

namespace partita::runtime {

/// A walk along the waits for messages of point to point, and what it has met.
struct RingProbe {
  static constexpr int most_named = 32;
  int first = -1;           ///< the rank that it started from
  std::uint64_t wait = 0;   ///< of that rank: another number for each
  std::int64_t begun = 0;   ///< when, by the clock of that rank
  std::uint64_t waits = 0;  ///< hash of all the waits
  int count = 0;            ///< of the ranks
  bool sends = false, receives = false;
  std::array<std::int32_t, most_named> ranks{};  ///< the first ones of them
};

/// Belongs to one wait. If two walks, the second begun after the end of the first, find the same waits, all
/// these waits lasted at the same time: nobody in the ring gets further.
class RingWatch {
 public:
  RingWatch(Runtime& state, const WaitReason& reason) : state_(state), reason_(reason) {}
  /// What the context must fail of: a DisagreementError. Sends on the walks of other ranks, of which only one
  /// comes back: that of the rank that is the first of the ring in an order by hashes.
  std::optional<CaughtError> look(std::chrono::steady_clock::time_point now);

 private:
  using Time = std::chrono::steady_clock::time_point;
  bool has_come_back_twice(const RingProbe& probe, Time now);
  void send_on(RingProbe probe);

  Runtime& state_;
  const WaitReason& reason_;
  std::uint64_t wait_ = 0;  ///< its number; 0: not looked yet
  Time next_;               ///< walk of this rank
  std::uint64_t waits_ = 0;
  Time waits_since_;  ///< a walk has found them; its end
};

}  // namespace partita::runtime
