// pdgemm on a BLACS grid: ScaLAPACK's own (the peer), and that of the drop-in library (ours).
#pragma once

#include <memory>
#include <partita/context.hpp>

namespace partita::benchmarks {

/// D = A B, m x k times k x n, all block-cyclic in square blocks over the same grid, which is numbered row by
/// row; the local parts column-major without gaps.
struct PdgemmProblem {
  int m = 0;
  int n = 0;
  int k = 0;
  int block = 0;
  int grid_rows = 1;
  int grid_columns = 1;
};

class Pdgemm {
 public:
  virtual ~Pdgemm() = default;
  /// Collective over MPI_COMM_WORLD, blocking.
  virtual void run(const double* a, const double* b, double* d) = 0;
};

enum class PdgemmLibrary { scalapack, drop_in };

/// Null where the library is not there or the context is not all of MPI_COMM_WORLD. Collective.
std::unique_ptr<Pdgemm> make_pdgemm(PdgemmLibrary library, const Context& context,
                                    const PdgemmProblem& problem);

}  // namespace partita::benchmarks
