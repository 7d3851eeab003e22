// The named algorithms as tilings, one file each.
#pragma once

#include "matmul/problem.hpp"
#include "matmul/tiling.hpp"

namespace partita::multiplication {

/// The index sets of the last two dimensions, and of the batch dimensions before them, that a rank holds.
struct Holding {
  std::vector<IndexSet> batch;
  IndexSet rows;
  IndexSet columns;
};
/// `held` of operand a, b or d of the problem; a missing batch dimension is whole.
Holding holding(const Problem& problem, const Operand& operand, const Region& held);

/// Each rank multiplies what it holds of D, all of k. Replicas of D repeat the work. local, all_gather and
/// summa_c differ in what they move and in their name.
Tiling local_tiling(const Problem& problem);
Tiling all_gather_tiling(const Problem& problem);
Tiling summa_c_tiling(const Problem& problem);

/// Each rank multiplies what it holds of A by the rows of B with the same k, for all of n; likewise B's
/// columns. Of replicas the first does the work. reduce_scatter and all_reduce: k is cut as A's columns are.
Tiling summa_a_tiling(const Problem& problem);
Tiling summa_b_tiling(const Problem& problem);
Tiling reduce_scatter_tiling(const Problem& problem);
Tiling all_reduce_tiling(const Problem& problem);

}  // namespace partita::multiplication
