// All-reduce: as reduce-scatter, but every rank gets the whole sum: each rank adds one slab of D, which then
// goes to all.
#include "matmul/stationary.hpp"

namespace partita::multiplication {

Tiling all_reduce_tiling(const Problem& problem) {
  return cut_along_k(problem, MatmulMethod::all_reduce, "all-reduce",
                     "k is cut over the ranks, every rank gets the sums");
}

}  // namespace partita::multiplication
