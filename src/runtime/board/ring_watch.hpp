// Rings of ranks that wait for each other, in one context or several: each sends a note to those that it
// waits for, which tell those that they wait for, until the walk comes back (edge chasing: Chandy, Misra,
// Haas 1983).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/board/ring_probe.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/checks/error_kind.hpp"

namespace partita::runtime {

/// Belongs to one wait. A rank passes a walk on only if, while its own wait lasts, it does not do what the
/// rank before it waits for. When a walk comes back and each of its waits has lasted longer than the walk
/// took, all of them lasted when it began: then nobody in the ring got further, or ever does. What was sent
/// before a wait began has some time more to arrive. No clocks of different ranks are compared.
class RingWatch {
 public:
  RingWatch(Runtime& state, const WaitReason& reason) : state_(state), reason_(reason) {}
  /// What the context must fail of: a DisagreementError, the same on all ranks of the ring. The contexts in
  /// which ranks of the ring wait for this one have failed then. Passes on the walks of other ranks; of those
  /// along a ring, only that of the first wait in an order by hashes comes back.
  std::optional<CaughtError> look(std::chrono::steady_clock::time_point now);
  /// This wait is in a ring: soon `look` says what its ranks throw.
  bool is_found() const { return in_ring_.has_value(); }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Arrived {
    std::uint64_t context = 0;  ///< by which it came
    RingProbe probe;
  };
  struct Heard {
    std::string text;
    Time at;
  };
  enum class Holds : std::uint8_t { no, in_same_call, not_come };

  void begin(Time now);
  std::vector<Arrived> take_probes() const;
  void handle(Arrived arrived, Time now);
  Holds holds_up(std::uint64_t context, const RingProbe::Awaited& theirs) const;
  bool is_ring(const RingProbe& probe, Time now) const;
  void hear(const Arrived& verdict, Time now);
  std::optional<CaughtError> decide(Time now);
  void send_on(RingProbe probe, Time now);
  void tell(const RingProbe& probe) const;
  std::vector<int> ranks_to_tell() const;

  Runtime& state_;
  const WaitReason& reason_;
  std::uint64_t wait_ = 0;  ///< another number for each wait of all ranks; 0: not looked yet
  Time since_;
  Time latest_, next_;                            ///< walks of this rank
  int walks_ = 0;                                 ///< since another one has shown that a ring may have closed
  std::vector<Arrived> arrived_;                  ///< at the last look
  std::map<std::uint64_t, std::int64_t> passed_;  ///< the latest walk from a wait, by when it was begun
  std::map<std::uint64_t, Heard> heard_;          ///< rings that have been found, by the first wait
  std::optional<Time> in_ring_;                   ///< since when this wait is known to be in one
  std::set<std::uint64_t> waited_for_in_;         ///< contexts in which the ring waits for this rank
};

}  // namespace partita::runtime
