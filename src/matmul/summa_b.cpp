// SUMMA with B stationary: rank (r, c) of B's grid makes, for all rows,
//   T_r[:, J_c] = A[:, K_r] B[K_r, J_c],
// A's columns K_r coming from where they are, and D[I, J_c] = sum over r of T_r[I, J_c] goes to its holders.
#include "matmul/stationary.hpp"

namespace partita::multiplication {

Tiling summa_b_tiling(const Problem& problem) {
  return stationary_b(problem, MatmulMethod::summa_b, "summa-b", "B stays where it is, A and sums move");
}

}  // namespace partita::multiplication
