// Compute steps bound to memory: where the executor meets the local kernels.
#pragma once

#include <functional>
#include <memory>
#include <partita/plan.hpp>
#include <vector>

#include "execute/works/workspace.hpp"

namespace partita::execution {

/// Gives the address at which a place's buffer starts on the place's rank, for this execution. Offsets within
/// the buffer are not in it.
using AddressOf = std::function<char*(const Place&)>;

/// What a work is lowered with. `strides` are those of the bound operands' local views, in elements, by
/// buffer: used for this rank's operands that are not dense. `workspace` is shared by all works of a plan,
/// which run one after another. Plan and strides live only while the work is bound.
struct WorkBinding {
  const Plan& plan;
  const std::vector<Strides>& strides;
  std::shared_ptr<Workspace> workspace = std::make_shared<Workspace>();
  /// Where the places are now, for kernels that are planned for addresses; may be empty, and later executions
  /// may have other addresses.
  AddressOf addresses = {};
};

/// A compute step with all that can be prepared prepared. `run` allocates nothing.
class BoundWork {
 public:
  BoundWork() = default;
  virtual ~BoundWork() = default;
  BoundWork(const BoundWork&) = delete;
  BoundWork& operator=(const BoundWork&) = delete;
  virtual void run(const AddressOf& address, const Parameters& parameters) = 0;
};

/// Nothing to compute on this rank.
class NoWork final : public BoundWork {
 public:
  void run(const AddressOf& /*address*/, const Parameters& /*parameters*/) override {}
};

/// Lowers a work. Local; may allocate and plan (local transforms are planned here).
std::unique_ptr<BoundWork> bind_work(const Work& work, const WorkBinding& binding);

// One function per kind of work, each in a separate file.
std::unique_ptr<BoundWork> bind_multiply(const Multiply& work, const WorkBinding& binding);
std::unique_ptr<BoundWork> bind_epilogue(const ApplyEpilogue& work, const WorkBinding& binding);
std::unique_ptr<BoundWork> bind_sum_along(const SumAlong& work, const WorkBinding& binding);
std::unique_ptr<BoundWork> bind_transform(const Transform& work, const WorkBinding& binding);
std::unique_ptr<BoundWork> bind_twiddle(const Twiddle& work, const WorkBinding& binding);
std::unique_ptr<BoundWork> bind_factor_panel(const FactorPanel& work, const WorkBinding& binding);
std::unique_ptr<BoundWork> bind_exchange_rows(const ExchangeRows& work, const WorkBinding& binding);
std::unique_ptr<BoundWork> bind_triangular_solve(const TriangularSolve& work, const WorkBinding& binding);
std::unique_ptr<BoundWork> bind_apply_reflectors(const ApplyReflectors& work, const WorkBinding& binding);
std::unique_ptr<BoundWork> bind_choose_rows(const ChooseRows& work, const WorkBinding& binding);
std::unique_ptr<BoundWork> bind_pivots_of_rows(const PivotsOfRows& work, const WorkBinding& binding);
std::unique_ptr<BoundWork> bind_move_rows(const MoveRows& work, const WorkBinding& binding);

/// Throws ArgumentError for one that cannot be.
void check_twiddle(const Twiddle& work, const WorkBinding& binding);

}  // namespace partita::execution
