// What a module of peers exports.
#include <partita/export.hpp>

#include "benchmarks/mpi_peers.hpp"

extern "C" PARTITA_API const partita::benchmarks::MpiPeers* partita_mpi_peers() {
  using namespace partita::benchmarks;
  static const MpiPeers peers{&make_alltoallv, &make_mpi_collective,    &make_fftw_mpi, &make_pdgemm,
                              &make_pdgemr2d,  &make_scalapack_factors, &make_pdsyevd};
  return &peers;
}
