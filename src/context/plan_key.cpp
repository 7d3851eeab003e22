#include "context/plan_key.hpp"

namespace partita::contexts {

PlanKey& PlanKey::add(const Operand& operand) {
  return add(operand.layout, operand.dtype, operand.axis_order, operand.dense, operand.space,
             operand.residency);
}

}  // namespace partita::contexts
