// What a rank's devices are at, as it tells its node.
#pragma once

#include <cstdint>
#include <partita/plan.hpp>
#include <vector>

#include "execute/plan_memory.hpp"

namespace partita {

/// Announces the executions of one plan, so that ranks that execute different plans find each other out while
/// they wait, and afterwards: signals and packets of another plan may have passed for this one's.
class DeviceAnnouncement {
 public:
  /// `plan` must outlive it.
  DeviceAnnouncement(ContextState& context, const Plan& plan);

  /// One more execution begins; gives its hash. Not for a graph, which may be started at any time.
  std::uint64_t begin(const PlanMemory& memory);
  /// Throws DisagreementError: a rank of this node is in another execution.
  void check() const;
  /// Waits until the streams have done what they were given. Throws as `check`, after failing the context.
  void finish() const;

 private:
  ContextState& context_;
  const Plan& plan_;
  std::uint64_t plan_hash_;
  std::uint64_t running_hash_ = 0;
  std::vector<int> neighbours_;  // the ranks of this node
};

}  // namespace partita
