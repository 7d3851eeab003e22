// Operations of linear algebra: a request says what is planned.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "array/device_mirror.hpp"
#include "execute/operation.hpp"

namespace partita::linear {

/// What a call asks for: the uses of its arrays, what ranks compare, and the plan of any rank.
struct LinearRequest {
  std::vector<execution::ArrayUse> uses;
  std::function<Plan(const Topology& topology, int rank)> plan = {};
  std::optional<Stream> stream = {};
  /// In its place, with what devices may do otherwise.
  std::function<execution::Planned(const Topology& topology, int rank)> planned = {};
};

class LinearOperation final : public execution::Operation {
 public:
  /// `request` may refuse its arguments, so it is called inside the check. `name` must be a literal.
  LinearOperation(ContextState& context, std::string_view name, std::function<LinearRequest()> request)
      : Operation(context, name), ask_(std::move(request)) {}

 private:
  std::vector<Fact> prepare() override {
    LinearRequest request = std::exchange(ask_, nullptr)();
    plan_ = std::move(request.planned);
    if (!plan_)
      plan_ = [plan = std::move(request.plan)](const Topology& topology, int rank) {
        return execution::Planned{plan(topology, rank)};
      };
    set_uses(std::move(request.uses), request.stream);
    return plan_of(context().rank()).plan.identity;
  }
  execution::Planned plan_of(int rank) const override { return plan_(context().topology(space()), rank); }

  std::function<LinearRequest()> ask_;
  std::function<execution::Planned(const Topology&, int)> plan_;
};

/// The space in which a call with these operands is computed: the device's if one of them is there.
template <class... Operands>
MemorySpace space_of(const Operands&... operands) {
  const bool there = ((operands.space == MemorySpace::device) || ...);
  return there ? MemorySpace::device : MemorySpace::host;
}

}  // namespace partita::linear
