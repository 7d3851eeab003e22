#include "array/device_mirror.hpp"

#include "array/array_state.hpp"
#include "base/check.hpp"

namespace partita::arrays {

Operand device_mirror_of(const Operand& operand) {
  Operand result = Operand::of(operand.layout, operand.dtype, Order::row_major, Residency::heap);
  const Operand columns = Operand::of(operand.layout, operand.dtype, Order::column_major);
  if (operand.dense && operand.axis_order == columns.axis_order) result.axis_order = columns.axis_order;
  result.space = MemorySpace::device;
  return result;
}

Operand as_planned(const Operand& operand, MemorySpace other) {
  const bool crosses = operand.space == MemorySpace::host && other == MemorySpace::device;
  return crosses ? device_mirror_of(operand) : operand;
}

void check_matches(const Operand& planned, const Array& given, std::string_view operation,
                   std::string_view name) {
  check(given.local().space == MemorySpace::host,
        "{}: {} is in device memory, but the plan was made for host memory", operation, name);
  check(given.dtype() == planned.dtype &&
            (given.layout() == planned.layout || given.layout().equivalent(planned.layout)),
        "{}: {} is {} {}, but the plan was made for {} {}", operation, name, partita::name(given.dtype()),
        given.layout().to_string(), partita::name(planned.dtype), planned.layout.to_string());
}

Array allocate_device_mirror(ContextState& context, const Operand& operand) {
  const std::shared_ptr<ContextState> unowned(std::shared_ptr<void>(), &context);
  const Operand made = device_mirror_of(operand);
  return allocate_on_heap(unowned, made.layout, made.dtype, order_of(made), "scratch of a plan",
                          SourcePlace::current(), MemorySpace::device);
}

}  // namespace partita::arrays
