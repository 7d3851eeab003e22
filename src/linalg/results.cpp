#include "linalg/results.hpp"

#include "base/check.hpp"

namespace partita::linear {

Layout layout_like(const Operand& matrix, const Shape& shape) {
  const Layout& layout = matrix.layout;
  if (shape == layout.shape() && !layout.partial()) return layout;
  const bool is_slab = layout.distribution().as<Slab>() != nullptr && layout.members().empty();
  return {is_slab ? layout.distribution() : Distribution(Slab(0)), shape, layout.ranks()};
}

ArrayOptions options_like(const Operand& matrix) {
  const bool in_rows = matrix.axis_order.size() < 2 || matrix.axis_order[0] == 0;
  return {.residency = matrix.residency,
          .order = in_rows ? Order::row_major : Order::column_major,
          .space = matrix.space};
}

Operand operand_like(const Operand& matrix, const Shape& shape) {
  const ArrayOptions options = options_like(matrix);
  Operand operand = Operand::of(layout_like(matrix, shape), matrix.dtype, options.order, options.residency);
  operand.space = matrix.space;
  return operand;
}

Operand solution_operand(const ContextState& context, std::string_view operation, const Operand& b,
                         std::int64_t rows, const SolveOptions& options) {
  const MemorySpace space = options.space.value_or(b.space);
  check<UnsupportedError>(space == MemorySpace::host || context.device != nullptr,
                          "{}: the result was requested in device memory, but this context has no device",
                          operation);
  Shape shape = b.layout.shape();
  shape[0] = rows;
  const bool like_b = shape == b.layout.shape() && !b.layout.partial();
  const Layout layout = options.distribution ? Layout(*options.distribution, shape, context.size())
                        : like_b             ? b.layout
                                             : Layout(Slab(0), shape, context.size());
  Operand operand = Operand::of(layout, b.dtype, options.order, options.residency);
  operand.space = space;
  return operand;
}

}  // namespace partita::linear
