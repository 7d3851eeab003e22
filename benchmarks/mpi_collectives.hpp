// The peers of the collectives: MPI's own.
#pragma once

#include <functional>
#include <partita/partita.hpp>
#include <string>

namespace partita::benchmarks {

enum class Collective { all_reduce, reduce_scatter, all_gather, all_to_all, broadcast };

/// One call of MPI on `bytes` of f32 a rank (of the whole: what is reduced, gathered, exchanged or
/// broadcast), over MPI_COMM_WORLD. Nothing where there is no MPI, or the context is not all of its world.
std::function<void()> make_mpi_collective(const Context& context, Collective which, const float* source,
                                          float* destination, std::int64_t bytes);

}  // namespace partita::benchmarks
