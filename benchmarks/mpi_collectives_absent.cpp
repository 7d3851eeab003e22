#include "benchmarks/mpi_collectives.hpp"

namespace partita::benchmarks {

std::function<void()> make_mpi_collective(const Context& /*context*/, Collective /*which*/,
                                          const float* /*source*/, float* /*destination*/,
                                          std::int64_t /*bytes*/) {
  return {};
}

}  // namespace partita::benchmarks
