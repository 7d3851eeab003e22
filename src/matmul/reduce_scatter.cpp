// Reduce-scatter: k is cut over the ranks as A's columns are (B's rows where A is not cut along k),
//   T_r = A[I_r, K_r] B[K_r, :],  D = sum over r of T_r,
// each rank making the pieces of T_r for its peers first and its own last, so that peers can already add.
#include "matmul/stationary.hpp"

namespace partita::multiplication {

Tiling reduce_scatter_tiling(const Problem& problem) {
  return cut_along_k(problem, MatmulMethod::reduce_scatter, "reduce-scatter",
                     "k is cut over the ranks, sums are scattered");
}

}  // namespace partita::multiplication
