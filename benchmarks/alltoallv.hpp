// The peer that everybody writes by hand: pack, MPI_Alltoallv, unpack.
#pragma once

#include <memory>
#include <partita/partita.hpp>

namespace partita::benchmarks {

/// Redistributes two-dimensional arrays of f64 with dense row-major parts.
class PackedAlltoallv {
 public:
  virtual ~PackedAlltoallv() = default;
  /// Collective over MPI_COMM_WORLD, blocking.
  virtual void run(const double* source, double* destination) = 0;
};

/// `transposed`: the destination is the layout of the transposed array. Null where there is no MPI, or the
/// context is not all of MPI_COMM_WORLD.
std::unique_ptr<PackedAlltoallv> make_alltoallv(const Context& context, const Layout& source,
                                                const Layout& destination, bool transposed);

}  // namespace partita::benchmarks
