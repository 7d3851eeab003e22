// What the kernel answers who reads another process's memory.
#pragma once

#include <sys/uio.h>

#include <functional>
#include <span>

namespace partita::testing {

/// A call of process_vm_readv.
struct CrossRead {
  pid_t process;
  std::span<const iovec> to;
  std::function<ssize_t()> by_the_kernel;
};

/// For as long as it lives, `answer` stands between the thread that made it and the kernel.
class WatchedReads {
 public:
  explicit WatchedReads(std::function<ssize_t(const CrossRead&)> answer);
  ~WatchedReads();
  WatchedReads(const WatchedReads&) = delete;
  WatchedReads& operator=(const WatchedReads&) = delete;
};

}  // namespace partita::testing
