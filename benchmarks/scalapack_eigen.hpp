// The peer of ScaLAPACK: pdsyevd, eigenvalues and eigenvectors of a symmetric matrix.
#pragma once

#include <functional>
#include <partita/context.hpp>

namespace partita::benchmarks {

/// n x n matrices in f64, block-cyclic in square blocks over a grid, which is numbered row by row; the local
/// parts column-major without gaps.
struct EigenProblem {
  int n = 0;
  int block = 0;
  int grid_rows = 1;
  int grid_columns = 1;
};

/// Overwrites the lower triangle of `a`, and writes `values` [n], ascending, on each rank, and `vectors`.
/// Collective over MPI_COMM_WORLD, blocking. Null if there is no ScaLAPACK or the context is not all of
/// MPI_COMM_WORLD.
std::function<void()> make_pdsyevd(const Context& context, const EigenProblem& problem, double* a,
                                   double* values, double* vectors);

}  // namespace partita::benchmarks
