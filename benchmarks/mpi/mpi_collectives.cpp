#include "benchmarks/mpi_collectives.hpp"

#include <mpi.h>

#include "benchmarks/mpi/mpi_world.hpp"

namespace partita::benchmarks {

std::function<void()> make_mpi_collective(const Context& context, Collective which, const float* source,
                                          float* destination, std::int64_t bytes) {
  if (!spans_mpi_world(context)) return {};
  const auto count = static_cast<int>(bytes / static_cast<std::int64_t>(sizeof(float)));
  const int part = count / context.size();
  const MPI_Comm world = MPI_COMM_WORLD;
  switch (which) {
    case Collective::all_reduce:
      return [=] { MPI_Allreduce(source, destination, count, MPI_FLOAT, MPI_SUM, world); };
    case Collective::reduce_scatter:
      return [=] { MPI_Reduce_scatter_block(source, destination, part, MPI_FLOAT, MPI_SUM, world); };
    case Collective::all_gather:
      return [=] { MPI_Allgather(source, part, MPI_FLOAT, destination, part, MPI_FLOAT, world); };
    case Collective::all_to_all:
      return [=] { MPI_Alltoall(source, part, MPI_FLOAT, destination, part, MPI_FLOAT, world); };
    case Collective::broadcast:
      return [=] { MPI_Bcast(destination, count, MPI_FLOAT, 0, world); };
  }
  return {};
}

}  // namespace partita::benchmarks
