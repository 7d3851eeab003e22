// Who started this process.
#pragma once

namespace partita {

/// An MPI launcher (mpirun, srun with PMI, ...) started this process.
bool started_by_launcher();

}  // namespace partita
