#include "execute/executor.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/memory_space.hpp"
#include "execute/bound_plan.hpp"
#include "execute/device_plan.hpp"
#include "execute/fused_plan.hpp"
#include "execute/grouped_plan.hpp"
#include "runtime/agree.hpp"

namespace partita {

MemorySpace space_of(const Plan& plan) {
  MemorySpace space = MemorySpace::host;
  bool first = true;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.kind != BufferKind::operand) continue;
    check<UnsupportedError>(first || buffer.operand->space == space,
                            "{}: its arrays lie in host memory and in device memory; copy them to one side",
                            plan.operation);
    space = buffer.operand->space;
    first = false;
  }
  return space;
}

namespace {

/// Texts of layouts take longer than all of a small execution.
[[noreturn]] void refuse_layout(const Buffer& buffer, const Layout& given) {
  throw ArgumentError(fmt::format("the {} is {}, but the plan was made for {}", buffer.name,
                                  given.to_string(), buffer.operand->layout.to_string()));
}

}  // namespace

void match(const Buffer& buffer, const Array::State& array) {
  const Operand& wanted = *buffer.operand;
  const Operand& given = array.operand;
  check(given.dtype == wanted.dtype, "the {} is {}, but the plan was made for {}", buffer.name,
        name(given.dtype), name(wanted.dtype));
  if (given.layout != wanted.layout && !given.layout.equivalent(wanted.layout)) {
    refuse_layout(buffer, given.layout);
  }
  check(given.space == wanted.space, "the {} lies in {} memory, but the plan was made for {} memory",
        buffer.name, name(given.space), name(wanted.space));
  check(!wanted.dense || (given.dense && given.axis_order == wanted.axis_order),
        "the local parts of the {} lie in memory in another order than the plan was made for", buffer.name);
  check(wanted.residency == Residency::ordinary || array.heap_offset >= 0,
        "the {} is in ordinary memory, but the plan was made for the symmetric heap", buffer.name);
}

std::unique_ptr<Executor> Executor::bind(ContextState& context, Plan plan) {
  if (space_of(plan) == MemorySpace::host) return std::make_unique<BoundPlan>(context, std::move(plan));
  if (GroupedPlan::suits(context, plan)) return std::make_unique<GroupedPlan>(context, std::move(plan));
  if (auto fused = FusedPlan::of(context, plan)) return fused;
  return std::make_unique<DevicePlan>(context, std::move(plan));
}

void Executor::connect_all(ContextState& context, std::unique_ptr<Executor>& executor) {
  const Plan& plan = executor->plan();
  const bool may_fuse = space_of(plan) == MemorySpace::device && !GroupedPlan::suits(context, plan);
  if (may_fuse && context.size() > 1) {
    const auto* const fused = dynamic_cast<const FusedPlan*>(executor.get());
    const std::vector<int> all = exchange_values(context, plan.operation, fused != nullptr ? 1 : 0);
    if (fused != nullptr && fused->needs_all_ranks() && std::ranges::min(all) == 0) {
      executor = std::make_unique<DevicePlan>(context, Plan(plan));
    }
  }
  executor->connect();
}

}  // namespace partita
