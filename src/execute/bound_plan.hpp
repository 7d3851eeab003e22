// The host executor: a plan bound to memory, ready to run again and again.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <partita/plan.hpp>
#include <span>
#include <vector>

#include "array/array_state.hpp"
#include "context/context_state.hpp"
#include "execute/bound_work.hpp"
#include "execute/executor.hpp"
#include "execute/lower.hpp"
#include "execute/plan_memory.hpp"
#include "execute/plan_messages.hpp"

namespace partita {

/// Knows steps, regions and messages; nothing of what operation they belong to.
///
/// Holds no share of the context: whoever owns a BoundPlan keeps the context alive.
class BoundPlan final : public Executor {
 public:
  /// `workspace` is the heap offset of memory of the caller's that holds all scratch, as `scratch_places`
  /// says; nothing: the plan has its own.
  BoundPlan(ContextState& context, Plan plan, std::optional<std::int64_t> workspace = {});

  const Plan& plan() const override { return plan_; }
  void connect() override { memory_.connect(); }

  /// Runs the plan on these arrays, one an operand buffer, in the order of the plan's buffers. Collective,
  /// blocking. Throws ArgumentError where an array does not match its buffer's operand. Any error after the
  /// first step fails the context: its peers cannot know how far this rank came.
  void execute(std::span<const Array::State* const> operands, const Parameters& parameters = {}) override;
  void enqueue(std::span<const Array::State* const> operands, Stream stream) override;

 private:
  struct Move {
    std::vector<StridedCopy> nests;
    StoreHint hint = StoreHint::memory;
  };

  void lower_moves();
  void run();
  std::uint64_t with_factors(std::uint64_t hash) const;
  void run_step(std::size_t index);
  void run_move(const Step& step, const Move& move);
  void lower_works();
  void wait_signal(const Step& step);
  void advance_signals();

  ContextState& context_;
  Plan plan_;
  std::uint64_t plan_hash_;
  PlanMemory memory_;
  std::vector<Move> moves_;                        // by step
  std::vector<std::unique_ptr<BoundWork>> works_;  // by work
  Parameters parameters_;                          // of the execution in progress
  std::vector<int> node_index_;                    // by rank: its place in my node; -1 elsewhere
  std::vector<std::array<std::uint64_t, channel_count>>
      signals_;  // by node rank: waited for in one execution
  PlanMessages mail_;
};

}  // namespace partita
