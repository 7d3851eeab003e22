// The peer of ScaLAPACK: pdgetrf, pdpotrf and pdgeqrf, and solves with the factors of the first two.
#pragma once

#include <memory>
#include <partita/context.hpp>
#include <partita/work.hpp>

namespace partita::benchmarks {

/// An n x n matrix in f64, block-cyclic in square blocks over a grid, which is numbered row by row; the local
/// parts column-major without gaps. Of a Cholesky factorization the lower triangle.
struct FactorProblem {
  Factorization kind = Factorization::lu;
  int n = 0;
  int sides = 0;  ///< right-hand sides of solves
  int block = 0;
  int grid_rows = 1;
  int grid_columns = 1;
};

/// Collective over MPI_COMM_WORLD, blocking. Throws Error if the matrix is singular.
class ScalapackFactors {
 public:
  virtual ~ScalapackFactors() = default;
  virtual void factorize(double* a) = 0;  ///< in place
  /// In place, with the factors of the latest `factorize`. B is [n, sides], in the same blocks.
  virtual void solve(const double* a, double* b) = 0;
};

/// Null if there is no ScaLAPACK or the context is not all of MPI_COMM_WORLD. Collective.
std::unique_ptr<ScalapackFactors> make_scalapack_factors(const Context& context,
                                                         const FactorProblem& problem);

}  // namespace partita::benchmarks
