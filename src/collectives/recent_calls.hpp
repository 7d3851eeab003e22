// Calls that a context has seen lately.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "collectives/call_signature.hpp"
#include "collectives/runner.hpp"
#include "context/context_state.hpp"

namespace partita::collective {

/// A call of exactly the same signature as one before has passed its checks, and the plan is the same. All
/// that is saved is time: whether a call is found here is this rank's own matter, so finding it uses the
/// context's plans, whose order is that of calls on all ranks, just as looking for the plan does.
class RecentCalls {
 public:
  static RecentCalls& of(ContextState& context);

  /// Carries the call out, if it is known and its plan still kept.
  bool run(ContextState& context, const CallSignature& signature, Stream stream);
  /// `key`: of the plan.
  void remember(const CallSignature& signature, const contexts::PlanKey& key, std::vector<View> views,
                const std::shared_ptr<Runner>& runner);

 private:
  struct Entry {
    CallSignature signature;
    contexts::PlanKey key;
    std::vector<View> views;
    std::weak_ptr<Runner> runner;
  };
  static constexpr std::size_t most = 16;
  std::vector<Entry> entries_;
  std::size_t oldest_ = 0;
};

}  // namespace partita::collective
