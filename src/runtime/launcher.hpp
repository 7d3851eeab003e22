// Who started this process, and what the environment says of the ranks.
#pragma once

#include <string>

namespace partita {

/// An MPI launcher (mpirun, srun with PMI, ...) started this process.
bool started_by_launcher();

/// PARTITA_RANKS_PER_NODE where the option is 0. A bad value (of either) is not thrown but said in `problem`,
/// because the ranks must first tell each other.
struct RanksPerNode {
  int value = 0;  ///< 0: as the ranks are
  std::string problem;
};
RanksPerNode ranks_per_node_setting(int option);

}  // namespace partita
