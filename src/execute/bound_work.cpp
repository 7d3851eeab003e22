#include "execute/bound_work.hpp"

namespace partita::execution {
namespace {

struct Bind {
  const WorkBinding& binding;

  auto operator()(const Multiply& work) const { return bind_multiply(work, binding); }
  auto operator()(const ApplyEpilogue& work) const { return bind_epilogue(work, binding); }
  auto operator()(const SumAlong& work) const { return bind_sum_along(work, binding); }
  auto operator()(const Transform& work) const { return bind_transform(work, binding); }
  auto operator()(const Twiddle& work) const { return bind_twiddle(work, binding); }
};

}  // namespace

std::unique_ptr<BoundWork> bind_work(const Work& work, const WorkBinding& binding) {
  return std::visit(Bind{binding}, work);
}

}  // namespace partita::execution
