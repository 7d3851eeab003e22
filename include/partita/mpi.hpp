// MPI communicators as communicators of Partita. The only public header that includes <mpi.h>.
#pragma once

#include <mpi.h>

#include <cstring>
#include <partita/context.hpp>
#include <string>

namespace partita {

/// The name and version of the caller's MPI, from the macros of its mpi.h.
inline std::string mpi_implementation() {
#if defined(OMPI_MAJOR_VERSION)
  return "Open MPI " + std::to_string(OMPI_MAJOR_VERSION);
#elif defined(MPICH_NUMVERSION)
  return "MPICH " + std::to_string(MPICH_NUMVERSION / 10000000);
#else
  return "an unknown MPI";
#endif
}

/// Wraps a communicator for `initialize`, which duplicates it. The caller keeps ownership. Inline, so that it
/// is compiled with the caller's mpi.h: Partita thereby knows the MPI, and serves any MPI that it has a
/// module for. Local.
inline Communicator communicator(MPI_Comm comm) {
  Communicator result;
  static_assert(sizeof(MPI_Comm) <= sizeof(result.handle));
  std::memcpy(result.handle.data(), &comm, sizeof(comm));
  result.handle_bytes = static_cast<int>(sizeof(comm));
  result.implementation = mpi_implementation();
  return result;
}

}  // namespace partita
