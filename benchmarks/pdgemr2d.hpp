// The peer of ScaLAPACK: Cpdgemr2d between two block-cyclic distributions.
#pragma once

#include <memory>
#include <partita/partita.hpp>

namespace partita::benchmarks {

/// A two-dimensional layout on a BLACS grid.
struct BlacsLayout {
  int grid_rows = 1;
  int grid_columns = 1;
  int block_rows = 1;
  int block_columns = 1;
};

class Pdgemr2d {
 public:
  virtual ~Pdgemr2d() = default;
  /// Collective, blocking. The local parts are column-major (ScaLAPACK knows no other) and as large as ours.
  virtual void run(const double* source, double* destination) = 0;
};

/// Null where there is no ScaLAPACK or the context is not all of MPI_COMM_WORLD.
std::unique_ptr<Pdgemr2d> make_pdgemr2d(const Context& context, const Shape& shape, const BlacsLayout& source,
                                        const BlacsLayout& destination);

}  // namespace partita::benchmarks
