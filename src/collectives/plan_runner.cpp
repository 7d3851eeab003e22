#include "collectives/plan_runner.hpp"

#include <utility>

#include "device/device_synchronization.hpp"
#include "runtime/groups/keeper.hpp"

namespace partita::collective {

PlanRunner::PlanRunner(ContextState& context, Plan plan, std::optional<Reduction> logical)
    : context_(context), logical_(logical), use_(context, plan.operation) {
  note_operands(plan);
  if (logical_ && execution::space_of(plan) == MemorySpace::device) {
    identity_ = identity_on(*context.device, *logical_, states_.back().operand.dtype);
  }
  executor_ = execution::Executor::bind(context, std::move(plan));
}

PlanRunner::PlanRunner(ContextState& context, Plan plan, std::size_t given)
    : context_(context), use_(context, plan.operation) {
  note_operands(plan);
  auto bound = std::make_unique<execution::BoundPlan>(context, std::move(plan), std::nullopt, given);
  halves_ = bound.get();
  executor_ = std::move(bound);
}

PlanRunner::~PlanRunner() {
  use_.await();
  if (context_.failed())
    runtime::keep_until_exit(std::make_shared<devices::DeviceMemory>(std::move(identity_)));
}

void PlanRunner::note_operands(const Plan& plan) {
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.kind != BufferKind::operand) continue;
    layouts_.push_back(buffer.operand->layout);
    states_.push_back({nullptr, *buffer.operand, {}, nullptr, -1});
  }
  for (const Array::State& state : states_) pointers_.push_back(&state);
}

void PlanRunner::finish() {
  halves_->finish();
}

void PlanRunner::set_heap_offsets(std::span<const std::int64_t> offsets) {
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i].heap_offset = offsets[i];
}

void PlanRunner::run(std::span<const View> views, Stream stream) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    Array::State& state = states_[i];
    state.local = views[i];
    const int dimensions = state.operand.layout.dimensions();
    if (state.local.strides.size() != dimensions) state.local.strides = Extents::filled(dimensions, 0);
  }
  executor_->enqueue(pointers_, {}, stream);
  if (logical_ && views.back().data != nullptr) {
    normalize_logical(context_, *logical_, views.back(), identity_.data(), stream);
    if (identity_.bytes() == 0) return;
    const Stream used = devices::stream_or_own(context_, stream);
    use_.note(used, context_.device->captures(used));
  }
}

}  // namespace partita::collective
