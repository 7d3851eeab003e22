#include "collectives/bound.hpp"

namespace partita::collective {

Bound::Bound(ContextState& context, Plan plan) {
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.kind != BufferKind::operand) continue;
    layouts_.push_back(buffer.operand->layout);
    states_.push_back({nullptr, *buffer.operand, {}, nullptr, -1});
  }
  for (const Array::State& state : states_) pointers_.push_back(&state);
  executor_ = Executor::bind(context, std::move(plan));
}

void Bound::run(std::span<const View> views, std::span<const std::int64_t> heap_offsets) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    Array::State& state = states_[i];
    state.local = views[i];
    const int dimensions = state.operand.layout.dimensions();
    if (state.local.strides.size() != dimensions) state.local.strides = Extents::filled(dimensions, 0);
    state.heap_offset = i < heap_offsets.size() ? heap_offsets[i] : -1;
  }
  executor_->execute(pointers_);
}

}  // namespace partita::collective
