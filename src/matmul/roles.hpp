// The operands of a product by their roles; those in host memory of a product that a device makes.
#pragma once

#include <array>
#include <partita/matmul.hpp>
#include <string>

#include "matmul/problem.hpp"

namespace partita::multiplication {

/// In the order of the plan's operand buffers.
enum Role : std::size_t {
  in_a,
  in_b,
  in_c,
  in_d,
  in_bias,
  in_auxiliary,
  in_gradient,
  in_scale_a,
  in_scale_b,
  in_scale_d,
  in_amax_d,
  roles
};
inline constexpr std::array<const char*, roles> role_names{"A",
                                                           "B",
                                                           "C",
                                                           "D",
                                                           "the bias",
                                                           "the auxiliary array",
                                                           "the gradient",
                                                           "the scale of A",
                                                           "the scale of B",
                                                           "the scale of D",
                                                           "the amax of D"};

/// Null for those that there are not.
std::array<Operand*, roles> by_role(MatmulOperands& operands);
std::array<const Operand*, roles> by_role(const MatmulOperands& operands);

/// Whether an execution reads it, writes it. Without the product (alpha = 0) A and B are read for sums of
/// them alone.
bool is_read(Role role, const EpilogueParts& parts, bool product);
bool is_written(Role role, const EpilogueParts& parts);

/// Where it is multiplied: on the device, if any operand is in its memory.
MemorySpace space_of(const MatmulOperands& operands);

/// As the planner sees them: if the device multiplies, mirrors of what is in host memory.
MatmulOperands as_planned(MatmulOperands operands);

/// Which operands are copied between host and device, to be added to the reason of a plan; else empty.
std::string host_copies_text(const MatmulOperands& operands, const MatmulOptions& options);

}  // namespace partita::multiplication
