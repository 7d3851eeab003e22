// A plan bound to memory, run on views.
#pragma once

#include <memory>
#include <optional>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <vector>

#include "array/array_state.hpp"
#include "collectives/normalize_logical.hpp"
#include "collectives/runner.hpp"
#include "device/last_use.hpp"
#include "execute/executor.hpp"
#include "execute/host/bound_plan.hpp"

namespace partita::collective {

/// Holds no share of the context: whoever owns it keeps the context alive.
class PlanRunner final : public Runner {
 public:
  /// Local. `logical`: the last view is made 0 or 1 after each run.
  PlanRunner(ContextState& context, Plan plan, std::optional<Reduction> logical = {});
  /// One whose `run` does only the first `given` steps, in host memory, and `finish` the rest: see
  /// execution::BoundPlan.
  PlanRunner(ContextState& context, Plan plan, std::size_t given);
  ~PlanRunner() override;

  void connect() {
    execution::Executor::connect_all(context_, executor_);
  }  ///< before the first run. Collective
  const Plan& plan() const { return executor_->plan(); }
  const std::vector<Layout>& layouts() const { return layouts_; }

  /// Of the views on the symmetric heap, the same on all ranks; of the others a negative number. Kept.
  void set_heap_offsets(std::span<const std::int64_t> offsets);

  void run(std::span<const View> views, Stream stream) override;
  void finish();  ///< of the constructor in halves

 private:
  void note_operands(const Plan& plan);

  std::vector<Layout> layouts_;  // of the operands
  std::vector<Array::State> states_;
  std::vector<const Array::State*> pointers_;
  ContextState& context_;
  std::optional<Reduction> logical_;
  devices::DeviceMemory identity_;  // of a logical on a device
  devices::LastUse use_;            // of that
  std::unique_ptr<execution::Executor> executor_;
  execution::BoundPlan* halves_ = nullptr;  // the executor, where it runs in halves
};

}  // namespace partita::collective
