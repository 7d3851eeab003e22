// The host executor: a plan bound to memory, ready to run again and again.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "execute/executor.hpp"
#include "execute/host/plan_messages.hpp"
#include "execute/lower.hpp"
#include "execute/works/bound_work.hpp"

namespace partita::execution {

/// Knows steps, regions and messages; nothing of what operation they belong to.
class BoundPlan final : public Executor {
 public:
  /// `given`: 0, or the number of steps that an execution in halves runs when it is enqueued; they do not
  /// wait for peers, and their only signals, on all ranks, are on the channel `ready`. `finish` runs the
  /// other steps. Other plans may run in between, also in halves; they finish in the order in which they
  /// began.
  BoundPlan(ContextState& context, Plan plan, std::optional<std::int64_t> workspace, std::size_t given = 0);

  /// The second half of what was enqueued. Collective, blocking. Errors fail the context.
  void finish() override;

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
  void lend() const;
  void pull(const Step& step, const Move& move);
  void wait_signal(std::size_t index);
  std::int64_t message_bytes(const Step& step) const;
  void advance_signals();
  void run_steps(std::size_t first, std::size_t end, const Parameters& parameters, StepClock* clock);
  void begin_halves();
  bool came_before(int channel) const;

  std::vector<Move> moves_;                        // by step
  std::vector<std::unique_ptr<BoundWork>> works_;  // by work
  std::vector<int> node_index_;                    // by rank: its place in my node; -1 elsewhere
  std::vector<std::array<std::uint64_t, channel_count>>
      signals_;                 // by node rank: waited for in one execution
  std::vector<bool> compares_;  // by step: whether it waits for the first signals of a rank on a channel
  std::uint64_t number_ = 0;    // of the execution under way
  std::size_t given_;           // steps of the first half; 0: an execution is one
  bool may_withdraw_;           // from its executions, see withdrawal.hpp
  std::vector<std::uint64_t> ready_seen_;  // by node rank: signals on `ready` before those of this execution
  PlanMessages mail_;
};

}  // namespace partita::execution
