// Operands of one dimension as matrices.
#pragma once

#include <partita/operand.hpp>

namespace partita::planning {

/// The same elements with a dimension of extent 1 at `position`.
Operand with_dimension(const Operand& operand, int position);

}  // namespace partita::planning
