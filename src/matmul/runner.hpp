// Planning and running on all ranks together.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/option_text.hpp"
#include "execute/executor.hpp"
#include "matmul/crossing.hpp"
#include "matmul/groups.hpp"
#include "matmul/plan.hpp"
#include "matmul/request.hpp"

namespace partita::multiplication {

/// What a plan is made for.
struct Setting {
  MatmulOperands operands;
  MatmulOptions options;
  bool in_place = false;
  bool product = true;  ///< alpha is not 0
  /// Something carries messages between devices in groups (plan.hpp); found when it is planned.
  std::optional<Groups> groups = {};
};

/// A bound plan and what it was made for.
class Runner {
 public:
  /// Local.
  Runner(ContextState& context, ProductPlan planned, const Setting& setting)
      : context_(context),
        bound_(execution::Executor::bind(context, std::move(planned.plan), {}, std::move(planned.packets))),
        setting_(setting),
        purpose_(text_of(bound_->plan().identity)),
        crossing_(setting.operands, setting.options, setting.in_place) {}

  /// Before the first run. Collective.
  void connect();
  const Plan& plan() const { return bound_->plan(); }
  const Setting& setting() const { return setting_; }
  std::int64_t scratch_bytes() const;  ///< on this rank
  /// Operands and options, by which ranks compare what a new D is for.
  const std::string& purpose() const { return purpose_; }

  /// The request's arrays as `run` and `enqueue` take them: those that stand in for some on the host among
  /// them. Local.
  using Arrays = std::vector<std::shared_ptr<Array::State>>;
  Arrays in_plan_order(const Request& request) const;
  /// Blocking.
  void run(const Request& request, const Arrays& arrays, const Parameters& parameters);
  /// Puts it into the stream. Throws UnsupportedError where an array lies in host memory.
  void enqueue(const Request& request, const Arrays& arrays, const Parameters& parameters, Stream stream);

 private:
  std::span<const Array::State* const> given(const Arrays& arrays);

  ContextState& context_;
  std::unique_ptr<execution::Executor> bound_;
  Setting setting_;
  std::string purpose_;
  Crossing crossing_;
  std::vector<const Array::State*> given_;
};

/// The plan of any rank of the context. Pure.
ProductPlan plan_of(const Setting& setting, const ContextState& context, int rank);

/// Plans on every rank, or throws the same error on every rank. `setting` is asked inside the check, since
/// making it may fail. Collective, blocking.
std::shared_ptr<Runner> plan_together(ContextState& context, const std::function<Setting()>& setting);

/// Throws what `local` throws, the same on every rank: where all ranks see the same, and it throws nothing,
/// without an exchange.
void check_together(ContextState& context, bool alike_on_all_ranks, const std::function<void()>& local);

}  // namespace partita::multiplication
