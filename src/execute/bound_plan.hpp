// The host executor: a plan bound to memory, ready to run again and again.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "execute/bound_work.hpp"
#include "execute/executor.hpp"
#include "execute/lower.hpp"
#include "execute/plan_messages.hpp"

namespace partita::execution {

/// Knows steps, regions and messages; nothing of what operation they belong to.
class BoundPlan final : public Executor {
 public:
  BoundPlan(ContextState& context, Plan plan, std::optional<std::int64_t> workspace);

 private:
  struct Move {
    std::vector<kernels::StridedCopy> nests;
    kernels::StoreHint hint = kernels::StoreHint::memory;
  };

  void relower() override;
  void lower_moves();
  void lower_works();
  void run(const Execution& execution) override;
  void run_step(std::size_t index, const Parameters& parameters);
  void run_move(const Step& step, const Move& move);
  void wait_signal(const Step& step);
  void advance_signals();

  std::vector<Move> moves_;                        // by step
  std::vector<std::unique_ptr<BoundWork>> works_;  // by work
  std::vector<int> node_index_;                    // by rank: its place in my node; -1 elsewhere
  std::vector<std::array<std::uint64_t, channel_count>>
      signals_;  // by node rank: waited for in one execution
  PlanMessages mail_;
};

}  // namespace partita::execution
