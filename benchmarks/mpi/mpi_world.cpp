#include "benchmarks/mpi/mpi_world.hpp"

#include <mpi.h>

namespace partita::benchmarks {

bool spans_mpi_world(const Context& context) {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) return false;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size == context.size();
}

}  // namespace partita::benchmarks
