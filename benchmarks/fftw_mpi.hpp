// The peer FFTW-MPI: slabs, in place, planned with FFTW_MEASURE.
#pragma once

#include <memory>
#include <partita/partita.hpp>

namespace partita::benchmarks {

class FftwMpi {
 public:
  virtual ~FftwMpi() = default;
  /// Fills the array with numbers of order one: in place, run after run would make them infinite. Local.
  virtual void prepare() = 0;
  /// Collective, blocking.
  virtual void run() = 0;
};

/// A forward transform of f64, complex or `real` (padded in place). `transposed`: the result stays cut along
/// the second axis, its best mode. Its memory is on the symmetric heap, for pages like ours. Null where there
/// is no FFTW-MPI or the context is not all of MPI_COMM_WORLD. Collective.
std::unique_ptr<FftwMpi> make_fftw_mpi(const Context& context, const Shape& shape, bool real,
                                       bool transposed);

}  // namespace partita::benchmarks
