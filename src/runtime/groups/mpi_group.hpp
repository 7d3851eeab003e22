// The ranks as processes that talk through MPI: whichever the process has (mpi_module.hpp).
#pragma once

#include <chrono>
#include <memory>
#include <partita/context.hpp>

#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

/// MPI has been initialised, by whomever, and not finalised, and is not only a copy of the parent's: the one
/// that we have opened, or else any that the process has loaded.
bool mpi_is_running();

/// MPI has been initialised by us; then we finalise it at exit.
bool mpi_initialised_by_us();

/// The MPI that was loaded says, now that it runs, that it takes addresses of CUDA's device memory; false
/// where MPI does not run or cannot say (`report_mpi_memory` says why not). Thread-safe.
bool mpi_takes_device_memory();

/// From here on nothing collective is called any more, MPI_Finalize included. Thread-safe.
void note_failed_context() noexcept;

/// The processes of the communicator (if none is given: MPI_COMM_WORLD), on a duplicate of it. Initialises
/// MPI if necessary. `ranks_per_node`: as in ContextOptions; with 0, PARTITA_RANKS_PER_NODE. Collective;
/// waits at most `deadline` for the other ranks. Errors: ArgumentError (a communicator of another MPI than
/// this process's, an invalid setting on some rank: the same on every rank), UnsupportedError (no MPI, or
/// none with a module), TimeoutError, Error (errors of MPI).
std::unique_ptr<ProcessGroup> make_mpi_group(const Communicator& communicator, int ranks_per_node,
                                             std::chrono::milliseconds deadline);

}  // namespace partita::runtime
