// Local: every rank holds the rows of A and the columns of B that its part of D needs.
#include "matmul/stationary.hpp"

namespace partita::multiplication {

Tiling local_tiling(const Problem& problem) {
  return stationary_d(problem, MatmulMethod::local, "local", "every rank holds what it needs");
}

}  // namespace partita::multiplication
