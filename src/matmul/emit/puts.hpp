// How ranks of a node put into each other's memory while they multiply.
#pragma once

#include <functional>
#include <set>
#include <span>

#include "matmul/emit/frame.hpp"
#include "plan/plan_builder.hpp"

namespace partita::multiplication {

/// So many pieces are together longer on their way than their starts take; shorter ones go in packets, or are
/// read where they lie.
inline bool worth_starts(const Machine& machine, double bytes, double pieces) {
  return pieces > 0 && bytes >= pieces * machine.copy_latency * machine.peer_bandwidth;
}

/// Those that this rank waits for, each once, before it puts to the taker first.
class Grants {
 public:
  explicit Grants(planning::PlanBuilder& builder) : builder_(builder) {}
  void await(int taker) {
    if (granted_.insert(taker).second) builder_.wait(taker, planning::Channel::grant);
  }
  /// All at once, so that no copy has a wait between it and the next one.
  void await(std::span<const int> takers) {
    for (const int taker : takers) await(taker);
  }

 private:
  planning::PlanBuilder& builder_;
  std::set<int> granted_;
};

/// What this rank has made of a D that lies on all ranks, into theirs; each is told.
inline void put_to_all(const Frame& frame, planning::PlanBuilder& builder, Grants& grants,
                       std::span<const int> takers, const Region& region) {
  for (const int taker : takers) {
    grants.await(taker);
    builder.copy(frame.rank(), region, builder.own(frame.d), {frame.d, taker, 0, {}});
    builder.signal(taker, planning::Channel::written);
  }
}

/// Waits for what the others put so, of which each makes so many parts.
inline void await_puts(planning::PlanBuilder& builder, std::span<const int> makers,
                       const std::function<std::int64_t(int maker)>& parts) {
  for (const int maker : makers) {
    const std::int64_t puts = parts(maker);
    if (puts > 0) builder.wait_for(maker, planning::Channel::written, puts);
  }
}

}  // namespace partita::multiplication
