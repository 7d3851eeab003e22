#include "runtime/groups/mpi_exit.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "runtime/board/process_watch.hpp"
#include "runtime/groups/mpi_group.hpp"
#include "runtime/groups/mpi_library.hpp"
#include "runtime/groups/mpi_module.hpp"
#include "runtime/live_contexts.hpp"

namespace partita::runtime {
namespace {

std::atomic<bool> context_failed{false};
std::atomic<bool> left_by_exception{false};
std::atomic<int> groups{0};

/// The largest group so far, and the longest deadline. Guarded by last_group_mutex.
struct LastGroup {
  std::vector<HostIdentity> hosts;
  int rank = 0;
  std::chrono::milliseconds deadline{0};
} last_group;
std::mutex last_group_mutex;

/// How long to wait for the other ranks at exit. After an exception, or an exit in the middle of the work,
/// they may be waiting for this rank, and are notified of its end only when it has ended.
std::chrono::milliseconds patience_at_exit(const LastGroup& group) {
  if (left_by_exception || groups > 0) return std::chrono::seconds(10);
  return std::max<std::chrono::milliseconds>(group.deadline, std::chrono::minutes(1));
}

}  // namespace

void note_failed_context() noexcept {
  context_failed = true;
}
void note_group_made() noexcept {
  ++groups;
}
void note_group_gone() noexcept {
  --groups;
  if (std::uncaught_exceptions() > 0) left_by_exception = true;
}
bool context_failed_in_this_process() noexcept {
  return context_failed;
}

void note_group(const std::vector<HostIdentity>& hosts, int rank, std::chrono::milliseconds deadline) {
  const std::lock_guard lock(last_group_mutex);
  last_group.deadline = std::max(last_group.deadline, deadline);
  if (hosts.size() <= last_group.hosts.size()) return;
  last_group.hosts = hosts;
  last_group.rank = rank;
}

void end_at_exit() {
  if (mpi_is_of_parent()) return;
  leave_contexts("has ended its program with its context open");
  if (mpi_is_finalised() || !mpi_initialised_by_us() || context_failed) return;
  try {
    const LastGroup group = [] {
      const std::lock_guard lock(last_group_mutex);
      return last_group;
    }();
    if (group.hosts.empty()) return;  // No group was ever made: the other ranks may be anywhere.
    ProcessWatch watch(group.hosts[static_cast<std::size_t>(group.rank)], group.hosts);
    const auto somebody_ended = [&watch, ranks = static_cast<int>(group.hosts.size())] {
      for (int rank = 0; rank < ranks; ++rank) {
        if (!watch.lost(rank).empty()) return true;
      }
      return false;
    };
    const mpi::Calls& mpi = mpi_calls();
    mpi.return_errors(mpi.world);
    mpi::Request barrier = mpi.no_request;
    if (mpi.ibarrier(mpi.world, &barrier) != mpi::success) return;
    if (wait_mpi(barrier, patience_at_exit(group), "MPI_Finalize", somebody_ended)) mpi.finalize();
  } catch (...) {
    // A transport that fails now has nothing to lose any more: the process ends.
  }
}

}  // namespace partita::runtime
