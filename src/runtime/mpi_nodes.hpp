// Who shares a node, and who is who: one non-blocking all-gather. For the files of the mpi backend only.
#pragma once

#include <mpi.h>

#include <chrono>
#include <vector>

#include "runtime/host_identity.hpp"

namespace partita {

struct MpiNodes {
  std::vector<HostIdentity> hosts;  ///< by rank
  Topology topology;
};

/// Collective over the communicator. A bad or differing setting of the ranks per node is the same
/// ArgumentError or DisagreementError on every rank.
MpiNodes find_mpi_nodes(MPI_Comm communicator, int ranks_per_node, std::chrono::milliseconds deadline);

}  // namespace partita
