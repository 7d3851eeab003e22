// Planning and running on all ranks together.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "execute/executor.hpp"
#include "matmul/request.hpp"

namespace partita::multiplication {

/// What a plan is made for.
struct Setting {
  MatmulOperands operands;
  MatmulOptions options;
  bool in_place = false;
  bool product = true;  ///< alpha is not 0
};

/// A bound plan and what it was made for.
class Runner {
 public:
  /// Local.
  Runner(ContextState& context, Plan plan, Setting setting)
      : bound_(execution::Executor::bind(context, std::move(plan))), setting_(std::move(setting)) {}

  /// Before the first run. Collective.
  void connect(ContextState& context) { execution::Executor::connect_all(context, bound_); }
  const Plan& plan() const { return bound_->plan(); }
  const Setting& setting() const { return setting_; }
  void run(std::span<const std::shared_ptr<Array::State>> arrays, const Parameters& parameters);

 private:
  std::unique_ptr<execution::Executor> bound_;
  Setting setting_;
  std::vector<const Array::State*> given_;
};

/// The plan of any rank of the context. Pure.
Plan plan_of(const Setting& setting, const ContextState& context, int rank);

/// Plans on every rank, or throws the same error on every rank. `setting` is asked inside the check, since
/// making it may fail. Collective, blocking.
std::shared_ptr<Runner> plan_together(ContextState& context, const std::function<Setting()>& setting);

/// Throws what `local` throws, the same on every rank: where all ranks see the same, and it throws nothing,
/// without an exchange.
void check_together(ContextState& context, bool alike_on_all_ranks, const std::function<void()>& local);

}  // namespace partita::multiplication
