// Solves with triangles that are distributed over the devices of a node: in one launch for each pass.
#pragma once

#include <partita/stream.hpp>
#include <string>
#include <vector>

#include "context/context_state.hpp"
#include "device/device_factorizations.hpp"
#include "execute/plan_memory.hpp"
#include "plan/solve_steps.hpp"

namespace partita::execution {

/// Thread blocks of all devices give each other the rows of X, or sums of products with them, as words in
/// shared scratch, which each device has cleared, and has said so, before. The order of rows is that of their
/// dependencies, so that no block waits for what begins behind it.
///
/// Does not keep the context alive: its owner does.
class SolveRunner {
 public:
  /// Local.
  SolveRunner(ContextState& context, const Plan& plan, const planning::SolveSteps& steps);

  /// Whether this rank's device does it. Local.
  bool offered() const;
  /// Not where some rank's device does not offer it. Collective, blocking.
  bool suits_all_ranks() const;
  /// `waited`: by rank, the signals that grant access which this execution waits for before.
  void run(const PlanMemory& memory, const std::vector<std::int64_t>& waited, Stream stream);
  /// Before the steps that are solved with, or after them.
  void exchange_rows(const PlanMemory& memory, Stream stream) const;

 private:
  devices::DeviceSharedSolve call_of(const planning::SolveSteps::Pass& pass) const;
  void exchange_signals(const std::vector<std::int64_t>& waited, Stream stream);

  ContextState& context_;
  const Plan& plan_;
  planning::SolveSteps steps_;
  Dtype dtype_;
  std::int64_t own_rows_;
  devices::DeviceFactorizations* factorizations_;
  std::vector<devices::FlagOperation> flags_;
  std::vector<void*> words_;
};

}  // namespace partita::execution
