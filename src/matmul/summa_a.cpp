// SUMMA with A stationary: rank (r, c) of A's grid makes, for all columns,
//   T_c[I_r, :] = A[I_r, K_c] B[K_c, :],
// B's rows K_c coming from where they are, and D[I_r, J] = sum over c of T_c[I_r, J] goes to its holders.
#include "matmul/stationary.hpp"

namespace partita::multiplication {

Tiling summa_a_tiling(const Problem& problem) {
  return stationary_a(problem, MatmulMethod::summa_a, "summa-a", "A stays where it is, B and sums move");
}

}  // namespace partita::multiplication
