#include "benchmarks/fftw_mpi.hpp"

namespace partita::benchmarks {

std::unique_ptr<FftwMpi> make_fftw_mpi(const Context& /*context*/, const Shape& /*shape*/, bool /*real*/,
                                       bool /*transposed*/) {
  return nullptr;
}

}  // namespace partita::benchmarks
