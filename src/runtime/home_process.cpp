#include "runtime/home_process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace partita::runtime {
namespace {

std::atomic<std::uint64_t> forks{0};

void count_fork() {
  forks.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t forks_so_far() {
  static const int installed = pthread_atfork(nullptr, nullptr, count_fork);
  static_cast<void>(installed);  // without memory for the note forks go unnoticed; nothing else is lost
  return forks.load(std::memory_order_relaxed);
}

}  // namespace

HomeProcess::HomeProcess() : forks_(forks_so_far()), number_(::getpid()) {}

bool HomeProcess::is_here() const noexcept {
  return forks_ == forks.load(std::memory_order_relaxed);
}

}  // namespace partita::runtime
