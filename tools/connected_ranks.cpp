#include "tools/connected_ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "tools/child_signals.hpp"

namespace partita::tools {
namespace {

[[noreturn]] void fail_to_start(int ranks, const std::string& what) {
  throw std::runtime_error(
      fmt::format("{} ranks cannot be started: {}: {}", ranks, what, std::strerror(errno)));
}

// What a program that this process becomes keeps: a copy beyond the numbers that scripts redirect.
int inherited(int descriptor) {
  constexpr int least = 64;
  const int copy = fcntl(descriptor, F_DUPFD, least);
  if (copy >= 0) return copy;
  fcntl(descriptor, F_SETFD, 0);
  return descriptor;
}

// The ends that lead from a rank to each other one, until the rank has them.
class Connections {
 public:
  explicit Connections(int ranks)
      : ranks_(ranks), ends_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks), -1) {}
  ~Connections() {
    for (int rank = 0; rank < ranks_; ++rank) close_ends_of(rank);
  }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Those with lower ranks are there already.
  void connect_with_later(int rank) {
    for (int later = rank + 1; later < ranks_; ++later) {
      int pair[2];
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) fail_to_start(ranks_, "socketpair");
      end(rank, later) = pair[0];
      end(later, rank) = pair[1];
    }
  }

  void close_ends_of(int rank) {
    for (int other = 0; other < ranks_; ++other) {
      int& descriptor = end(rank, other);
      if (descriptor >= 0) close(descriptor);
      descriptor = -1;
    }
  }

  // In the rank's process, for the program that it becomes.
  std::string hand_over(int rank) {
    std::string text = fmt::format("channels {}:", rank);
    for (int other = 0; other < ranks_; ++other) {
      if (other > 0) text += ',';
      if (other == rank) {
        text += '-';
        continue;
      }
      text += std::to_string(inherited(end(rank, other)));
    }
    return text;
  }

 private:
  int& end(int from, int to) {
    return ends_[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) +
                 static_cast<std::size_t>(to)];
  }

  int ranks_;
  std::vector<int> ends_;
};

// When rank r is started, we hold its own ends and those that lead from each later rank to ranks 0 ... r; it
// copies its own.
rlim_t descriptors_for(int ranks) {
  rlim_t most = 0;
  for (rlim_t r = 0, all = static_cast<rlim_t>(ranks); r < all; ++r)
    most = std::max(most, 2 * (all - 1) + (r + 1) * (all - 1 - r));
  constexpr rlim_t others = 128;
  return most + others;
}

// The limit of this process while it lives; `before` is what the ranks get back.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(int ranks) {
    const rlim_t wanted = descriptors_for(ranks);
    getrlimit(RLIMIT_NOFILE, &before_);
    if (wanted > before_.rlim_max) {
      throw std::runtime_error(
          fmt::format("{} ranks need {} file descriptors, and this shell allows {} (see ulimit -Hn)", ranks,
                      wanted, before_.rlim_max));
    }
    rlimit raised = before_;
    raised.rlim_cur = std::max(before_.rlim_cur, wanted);
    setrlimit(RLIMIT_NOFILE, &raised);
  }
  ~DescriptorLimit() { restore(); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  void restore() const { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// As MPI's launchers have it: what is typed is for rank 0.
void close_stdin() {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
}

void end_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(128 + SIGKILL);  // it has ended already
}

}  // namespace

std::vector<pid_t> start_connected_ranks(int ranks, const std::function<void()>& become) {
  const DescriptorLimit limit(ranks);
  Connections connections(ranks);
  const pid_t parent = getpid();
  std::vector<pid_t> processes;
  for (int rank = 0; rank < ranks; ++rank) {
    connections.connect_with_later(rank);
    processes.push_back(start_child([&] {
      end_with(parent);
      if (rank > 0) close_stdin();
      setenv("PARTITA_SOCKETS", connections.hand_over(rank).c_str(), 1);
      limit.restore();
      setenv("PARTITA_RANK", std::to_string(rank).c_str(), 1);
      become();
    }));
    connections.close_ends_of(rank);
  }
  return processes;
}

}  // namespace partita::tools
