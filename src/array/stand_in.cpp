#include "array/stand_in.hpp"

#include "array/array_state.hpp"

namespace partita::arrays {

Operand stand_in_of(const Operand& operand) {
  Operand result = Operand::of(operand.layout, operand.dtype, Order::row_major, Residency::heap);
  const Operand columns = Operand::of(operand.layout, operand.dtype, Order::column_major);
  if (operand.dense && operand.axis_order == columns.axis_order) result.axis_order = columns.axis_order;
  result.space = MemorySpace::device;
  return result;
}

Operand as_planned(const Operand& operand, MemorySpace other) {
  const bool crosses = operand.space == MemorySpace::host && other == MemorySpace::device;
  return crosses ? stand_in_of(operand) : operand;
}

Array allocate_stand_in(ContextState& context, const Operand& operand) {
  const std::shared_ptr<ContextState> unowned(std::shared_ptr<void>(), &context);
  const Operand made = stand_in_of(operand);
  return allocate_on_heap(unowned, made.layout, made.dtype, order_of(made), "scratch of a plan",
                          SourcePlace::current(), MemorySpace::device);
}

}  // namespace partita::arrays
