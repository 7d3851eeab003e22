// Peers that know only MPI_COMM_WORLD.
#pragma once

#include <partita/context.hpp>

namespace partita::benchmarks {

/// Whether MPI runs and its world has as many ranks as the context: otherwise such a peer cannot take part.
bool spans_mpi_world(const Context& context);

}  // namespace partita::benchmarks
