// All-gather: D[I, J] = A[I, :] B[:, J], all of it here; what is missing of A or B is read or received piece
// by piece, the own piece first.
#include "matmul/stationary.hpp"

namespace partita::multiplication {

Tiling all_gather_tiling(const Problem& problem) {
  return stationary_d(problem, MatmulMethod::all_gather, "all-gather", "every rank makes what it holds of D");
}

}  // namespace partita::multiplication
