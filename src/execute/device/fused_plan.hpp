// The executor of plans that devices do as one exchange.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/accelerator.hpp"
#include "execute/device/fused_exchange.hpp"
#include "execute/executor.hpp"
#include "execute/step_clock.hpp"

namespace partita::execution {

/// In one launch or, if copies are large, as early flags, copies in several streams, and late flags.
class FusedPlan final : public Executor {
 public:
  /// The plan, if it may be fused; otherwise it is left as it is. Local.
  static std::unique_ptr<FusedPlan> of(ContextState& context, Plan& plan);

  FusedPlan(ContextState& context, Plan plan, FusedExchange fused);

  /// Packing requires that the plans of all ranks are fused: a rank that executes in the order of the plan
  /// may need data that a fused peer sends only at the end.
  bool needs_all_ranks() const { return !fused_.packs.empty(); }
  void connect() override;

 private:
  using Steps = std::span<const std::size_t>;

  /// Given to the device and kept, because executions allocate nothing.
  struct Flags {
    std::vector<devices::FlagOperation> all;
    std::size_t signals = 0;  // the first of them
  };

  void relower() override;
  void place(Steps steps, std::vector<devices::PlacedCopy>& to) const;
  void put(Steps steps, Flags& to);
  void run(const Execution& execution) override;
  bool may_be_captured() const override { return context_.device_topology.node_count() == 1; }
  void run_branches();
  void give(Steps steps, const Flags& flags);
  std::size_t lane_of(const Step& step) const;
  template <class Work>
  void timed(Steps steps, std::size_t lane, const Work& work);

  FusedExchange fused_;
  std::vector<std::vector<kernels::StridedCopy>> moves_;  // by step
  std::vector<devices::PlacedCopy> packs_, copies_;
  Flags early_, late_;
  bool may_branch_ = false;
  bool in_branches_ = false;  // copies in several streams
  std::vector<Stream>
      streams_;                 // [0]: of the execution; then one a lane; the last for copies inside the rank
  bool captured_ = false;       // this execution is captured into a graph
  StepClock* clock_ = nullptr;  // of this execution; null: not recorded
};

}  // namespace partita::execution
