#include "execute/device/packet_plan.hpp"

#include <algorithm>

#include "execute/step_clock.hpp"

namespace partita::execution {
namespace {

bool is_row_major(const Buffer& buffer) {
  const Operand& operand = *buffer.operand;
  return operand.dense && operand.axis_order == Operand::of(operand.layout, operand.dtype).axis_order;
}

}  // namespace

// The plan's scratch is never touched: none is made.
PacketPlan::PacketPlan(ContextState& context, Plan plan, const planning::SmallExchange& exchange)
    : Executor(context, std::move(plan), MemorySpace::host, 0), packets_(context, plan_.operation, exchange) {
  const auto operands = std::span(plan_.buffers).first(2);
  if (std::ranges::all_of(operands, is_row_major)) dense_.emplace(context, plan_.operation);
}

void PacketPlan::relower() {
  packets_.lower(memory_.strides()[0], memory_.strides()[1]);
  if (packs()) dense_->prepare(memory_.locals());
}

void PacketPlan::run(const Execution& execution) {
  const std::span<const View> parts = memory_.locals();
  if (!packs()) return exchange(parts, execution);
  exchange(dense_->pack(parts, execution.stream), execution);
  dense_->unpack(parts, execution.stream, execution.captured);
}

void PacketPlan::exchange(std::span<const View> parts, const Execution& execution) {
  timed_in_stream(execution.clock, *context_.device, {}, 0, execution.stream, [&] {
    packets_.exchange(parts[0].data, parts[1].data, execution.stream, execution.captured);
  });
}

}  // namespace partita::execution
