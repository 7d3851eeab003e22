// Our own duplicate of the caller's communicator, and who sits on which node of it. For the files of the mpi
// backend only.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <partita/context.hpp>

#include "mpi/calls.hpp"
#include "runtime/groups/host_cards.hpp"
#include "runtime/groups/mpi_module.hpp"

namespace partita::runtime {

/// A group and its sub-groups share it.
struct OurCommunicator {
  mpi::Comm communicator = mpi_calls().no_comm;
  std::int32_t largest_key = 0;  ///< of a sub-group, as the tags allow
  std::atomic<bool> messages_left{false};

  OurCommunicator() = default;
  OurCommunicator(const OurCommunicator&) = delete;
  OurCommunicator& operator=(const OurCommunicator&) = delete;
  /// MPI_Comm_free is formally collective but "expected to be local" (MPI 3.1, 6.4.3), and it is in Open MPI
  /// and MPICH. Not freeing would use up MPICH's 2048 communicators. Nothing is freed after a failure.
  ~OurCommunicator();
};

/// The handle; MPI_COMM_WORLD if none is given. Throws ArgumentError for a communicator that is not a group
/// of ranks.
mpi::Comm handle_of(const Communicator& communicator);

/// Collective over the communicator. TimeoutError when the other ranks do not come.
std::shared_ptr<OurCommunicator> duplicate(mpi::Comm callers, std::chrono::milliseconds deadline);

/// One non-blocking all-gather over the communicator. A bad or differing setting of the ranks per node is the
/// same ArgumentError or DisagreementError on every rank.
RankHosts find_mpi_hosts(mpi::Comm communicator, int ranks_per_node, std::chrono::milliseconds deadline);

}  // namespace partita::runtime
