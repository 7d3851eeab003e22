// The peers that call MPI themselves: a module for each MPI, opened when the contexts have taken that one.
#pragma once

#include "benchmarks/alltoallv.hpp"
#include "benchmarks/fftw_mpi.hpp"
#include "benchmarks/mpi_collectives.hpp"
#include "benchmarks/pdgemm.hpp"
#include "benchmarks/pdgemr2d.hpp"
#include "benchmarks/scalapack_eigen.hpp"
#include "benchmarks/scalapack_factors.hpp"

namespace partita::benchmarks {

/// What a module makes, each as the function of that name does in the command, which asks the module.
struct MpiPeers {
  decltype(&make_alltoallv) alltoallv = nullptr;
  decltype(&make_mpi_collective) collective = nullptr;
  decltype(&make_fftw_mpi) fftw = nullptr;
  decltype(&make_pdgemm) pdgemm = nullptr;
  decltype(&make_pdgemr2d) pdgemr2d = nullptr;
  decltype(&make_scalapack_factors) factors = nullptr;
  decltype(&make_pdsyevd) eigen = nullptr;
};

/// What a module exports under the name `partita_mpi_peers`.
using PeersOfModule = const MpiPeers*();

}  // namespace partita::benchmarks
