#include "runtime/board/process_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace partita::runtime {

ProcessWatch::ProcessWatch(const HostIdentity& mine, std::vector<HostIdentity> ranks)
    : mine_(mine), ranks_(std::move(ranks)), processes_(ranks_.size()) {}

std::string ProcessWatch::lost(int rank) {
  const std::lock_guard lock(mutex_);
  Process& process = processes_.at(static_cast<std::size_t>(rank));
  if (process.looks_at_dead < 2) {
    const Clock::time_point now = Clock::now();
    if (now < process.next_look) return "";
    process.next_look = now + std::chrono::milliseconds(100);
    process.looks_at_dead = alive(rank) ? 0 : process.looks_at_dead + 1;
  }
  if (process.looks_at_dead < 2) return "";
  return fmt::format("(process {}) has ended", ranks_[static_cast<std::size_t>(rank)].process);
}

bool ProcessWatch::alive(int rank) {
  const HostIdentity& identity = ranks_[static_cast<std::size_t>(rank)];
  if (!mine_.same_processes(identity) || identity.start_time == 0) return true;
  if (!open(rank)) return process_start_time(identity.process) == identity.start_time;
  // A pidfd becomes readable when its process ends.
  pollfd ended{processes_[static_cast<std::size_t>(rank)].descriptor.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) <= 0;
}

/// False if there is no descriptor: the kernel or its filter does not offer it, or the process has ended.
bool ProcessWatch::open(int rank) {
  Process& process = processes_[static_cast<std::size_t>(rank)];
  if (process.descriptor) return true;
  if (process.no_descriptor) return false;
  const HostIdentity& identity = ranks_[static_cast<std::size_t>(rank)];
  process.descriptor = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, identity.process, 0)));
  // The number may belong to another process by now.
  if (process_start_time(identity.process) != identity.start_time) process.descriptor.reset();
  process.no_descriptor = !process.descriptor;
  return !process.no_descriptor;
}

}  // namespace partita::runtime
