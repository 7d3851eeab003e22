// SUMMA with C stationary (van de Geijn and Watts 1997), on any distribution: rank (r, c) of a grid makes
//   D[I_r, J_c] = sum over panels K of A[I_r, K] B[K, J_c],
// A's panels coming from its grid row, B's from its grid column. Panels are taken in Cannon's skewed order,
// so that no two ranks of a row or column ask the same owner at the same time.
#include "matmul/stationary.hpp"

namespace partita::multiplication {

Tiling summa_c_tiling(const Problem& problem) {
  return stationary_d(problem, MatmulMethod::summa_c, "summa-c",
                      "D stays where it is, panels of A and B move");
}

}  // namespace partita::multiplication
