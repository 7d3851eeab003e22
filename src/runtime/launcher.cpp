// Who started this process.
#include <algorithm>
#include <array>
#include <partita/machine_report.hpp>

#include "base/environment_variable.hpp"

namespace partita {

bool is_launched_rank() {
  // Open MPI; PMI-1 and PMI-2 (MPICH, Intel MPI, Slurm, Flux); PMIx (Open MPI 5, Slurm); Cray PALS.
  static constexpr std::array names{"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_FD", "PMI_SIZE", "PMIX_RANK",
                                    "PALS_RANKID"};
  return std::any_of(names.begin(), names.end(),
                     [](const char* name) { return !environment_variable(name).empty(); });
}

}  // namespace partita
