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
#include "execute/executor.hpp"

namespace partita::collective {

/// Holds no share of the context: whoever owns it keeps the context alive.
class PlanRunner final : public Runner {
 public:
  /// Local. `logical`: the last view is made 0 or 1 after each run.
  PlanRunner(ContextState& context, Plan plan, std::optional<Reduction> logical = {});

  void connect() {
    execution::Executor::connect_all(context_, executor_);
  }  ///< before the first run. Collective
  const Plan& plan() const { return executor_->plan(); }
  const std::vector<Layout>& layouts() const { return layouts_; }

  /// Of the views on the symmetric heap, the same on all ranks; of the others a negative number. Kept.
  void set_heap_offsets(std::span<const std::int64_t> offsets);

  void run(std::span<const View> views, Stream stream) override;

 private:
  std::vector<Layout> layouts_;  // of the operands
  std::vector<Array::State> states_;
  std::vector<const Array::State*> pointers_;
  ContextState& context_;
  std::optional<Reduction> logical_;
  devices::DeviceMemory identity_;  // of a logical on a device
  std::unique_ptr<execution::Executor> executor_;
};

}  // namespace partita::collective
