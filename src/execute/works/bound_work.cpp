#include "execute/works/bound_work.hpp"

#include <partita/error.hpp>

namespace partita::execution {
namespace {

struct Bind {
  const WorkBinding& binding;

  auto operator()(const Multiply& work) const { return bind_multiply(work, binding); }
  auto operator()(const ApplyEpilogue& work) const { return bind_epilogue(work, binding); }
  auto operator()(const SumAlong& work) const { return bind_sum_along(work, binding); }
  auto operator()(const Transform& work) const { return bind_transform(work, binding); }
  std::unique_ptr<BoundWork> operator()(const TransformInto& /*work*/) const {
    throw UnsupportedError(binding.plan.operation +
                           ": a transform into the memory of several ranks requires devices");
  }
  auto operator()(const Twiddle& work) const { return bind_twiddle(work, binding); }
  auto operator()(const FactorPanel& work) const { return bind_factor_panel(work, binding); }
  auto operator()(const ExchangeRows& work) const { return bind_exchange_rows(work, binding); }
  auto operator()(const TriangularSolve& work) const { return bind_triangular_solve(work, binding); }
  auto operator()(const ApplyReflectors& work) const { return bind_apply_reflectors(work, binding); }
  auto operator()(const ChooseRows& work) const { return bind_choose_rows(work, binding); }
  auto operator()(const PivotsOfRows& work) const { return bind_pivots_of_rows(work, binding); }
  auto operator()(const MoveRows& work) const { return bind_move_rows(work, binding); }
};

}  // namespace

std::unique_ptr<BoundWork> bind_work(const Work& work, const WorkBinding& binding) {
  return std::visit(Bind{binding}, work);
}

}  // namespace partita::execution
