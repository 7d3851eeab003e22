// The end of the process, when MPI is ours. For the files of the mpi backend only.
#pragma once

#include <chrono>
#include <vector>

#include "runtime/groups/host_identity.hpp"

namespace partita::runtime {

/// Reports that this rank leaves all open contexts, so that no rank waits for it. Then, if Partita
/// initialised MPI: finalises MPI after all ranks have arrived; gives up if a context has failed, a process
/// has ended or the ranks do not arrive. MPI_Finalize may wait forever for a rank that does not arrive, so it
/// is called only after a barrier that can be abandoned. Does nothing in a forked child. For std::atexit.
void end_at_exit();

/// What it needs to know of a group: MPI is finalised only while all the group's processes live, and waits
/// for them no longer than their contexts do.
void note_group(const std::vector<HostIdentity>& hosts, int rank, std::chrono::milliseconds deadline);

bool context_failed_in_this_process() noexcept;

/// A group begins and ends. One that is left by an exception: the other ranks may be waiting for this one,
/// not on their way out.
void note_group_made() noexcept;
void note_group_gone() noexcept;

}  // namespace partita::runtime
