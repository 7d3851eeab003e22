// Whether the processes of the other ranks still live. For processes of this machine the kernel knows; of
// others nothing is known.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "runtime/groups/host_identity.hpp"

namespace partita::runtime {

/// For any number of threads.
class ProcessWatch {
 public:
  ProcessWatch(const HostIdentity& mine, std::vector<HostIdentity> ranks);

  /// "" or "(process 4711) has ended". Looks at most every tenth of a second, and says it only on the second
  /// look: what the process sent before it ended may still be on its way.
  std::string lost(int rank);

 private:
  using Clock = std::chrono::steady_clock;
  struct Process {
    FileDescriptor descriptor;  ///< pidfd
    bool no_descriptor = false;
    int looks_at_dead = 0;
    Clock::time_point next_look{};
  };
  bool alive(int rank);
  bool open(int rank);

  HostIdentity mine_;
  std::vector<HostIdentity> ranks_;
  std::mutex mutex_;
  std::vector<Process> processes_;
};

}  // namespace partita::runtime
