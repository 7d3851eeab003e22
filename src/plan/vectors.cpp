#include "plan/vectors.hpp"

#include "distribution/dimensions.hpp"

namespace partita::planning {

Operand with_dimension(const Operand& operand, int position) {
  Operand result = operand;
  result.layout = distribution::with_dimension(operand.layout, position);
  result.axis_order = Extents();
  // The new dimension varies slowest, or fastest: one element is as near either way.
  result.axis_order.push_back(position);
  for (const std::int64_t axis : operand.axis_order) {
    result.axis_order.push_back(axis + (axis >= position ? 1 : 0));
  }
  return result;
}

}  // namespace partita::planning
