#include "runtime/groups/mpi_library.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <partita/machine_report.hpp>
#include <thread>

#include "base/check.hpp"
#include "base/environment_variable.hpp"
#include "runtime/groups/mpi_exit.hpp"
#include "runtime/groups/mpi_group.hpp"
#include "runtime/groups/mpi_loaded.hpp"
#include "runtime/groups/mpi_module.hpp"
#include "runtime/home_process.hpp"

namespace partita::runtime {
namespace {

std::atomic<bool> initialised_by_us{false};
std::atomic<mpi::ThreadLevel> thread_level{mpi::ThreadLevel::unknown};
std::atomic<const HomeProcess*> home_of_mpi{nullptr};
std::mutex start_mutex;
std::mutex serial_mutex;

/// MPICH's launcher, with the option not to kill the others when a process dies (-disable-auto-cleanup),
/// sends them SIGUSR1, which kills them anyway unless it is handled. A handler that the program has set
/// stays.
void outlive_notice_of_launcher() {
  struct sigaction present {};
  if (sigaction(SIGUSR1, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) return;
  struct sigaction heard {};
  heard.sa_handler = [](int) {};
  heard.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &heard, nullptr);
}

/// MPICH has forgotten a request's communicator when it reports the error of one that is over (a message that
/// was longer than its receive), and calls the handler of these. Where the caller started MPI, they are the
/// caller's.
void return_errors() {
  mpi_calls().return_errors(mpi_calls().world);
  mpi_calls().return_errors(mpi_calls().self);
}

}  // namespace

bool mpi_is_finalised() {
  return mpi_calls().finalized();
}

bool mpi_is_running() {
  if (opened_mpi() != nullptr) return mpi_calls().initialized() && !mpi_is_finalised() && !mpi_is_of_parent();
  const std::vector<LoadedMpi> loaded = loaded_mpis();
  return std::any_of(loaded.begin(), loaded.end(), [](const LoadedMpi& mpi) { return mpi.running; });
}
bool mpi_initialised_by_us() {
  return initialised_by_us;
}

bool mpi_is_of_parent() noexcept {
  const HomeProcess* const home = home_of_mpi.load(std::memory_order_acquire);
  return home != nullptr && !home->is_here();
}

void start_mpi() {
  const HomeProcess* const started = home_of_mpi.load(std::memory_order_acquire);
  check<UnsupportedError>(started == nullptr || started->is_here(),
                          "MPI was started by process {}, of which this one is a fork: it cannot use it",
                          started == nullptr ? 0 : started->number());
  const std::lock_guard lock(start_mutex);
  check(!mpi_is_finalised(), "MPI has been finalised already; it cannot be started again in this process");
  if (thread_level != mpi::ThreadLevel::unknown) return;
  mpi::ThreadLevel provided{};
  if (mpi_calls().initialized()) {
    check_mpi(mpi_calls().query_thread(&provided), "MPI_Query_thread");
  } else {
    check_mpi(mpi_calls().init_thread(&provided), "MPI_Init_thread");
    initialised_by_us = true;
    return_errors();
  }
  static const HomeProcess home;
  home_of_mpi = &home;
  std::atexit(end_at_exit);
  if (is_launched_rank() && opened_mpi()->family == MpiFamily::mpich) outlive_notice_of_launcher();
  thread_level = provided;
}

void check_world_is_of_launcher() {
  int size = 0;
  mpi_calls().comm_size(mpi_calls().world, &size);
  const int launched = launched_ranks(environment_variable);
  check<UnsupportedError>(
      size > 1 || launched <= 1,
      "the launcher has started {} ranks, but {} ({}) has only one: it is not the launcher's MPI", launched,
      opened_mpi()->version, opened_mpi()->library);
}

MpiCall::MpiCall() {
  check<Error>(!mpi_is_finalised(),
               "MPI has been finalised while Partita used it: close contexts before MPI_Finalize");
  const mpi::ThreadLevel level = thread_level.load(std::memory_order_relaxed);
  if (level == mpi::ThreadLevel::multiple) return;
  if (level == mpi::ThreadLevel::serialized) {
    lock_ = std::unique_lock(serial_mutex);
    return;
  }
  static thread_local const bool is_main = mpi_calls().is_thread_main();
  check<Error>(
      is_main,
      "MPI was initialised with {}: only the thread that did so may use Partita over MPI; initialise "
      "it with MPI_THREAD_MULTIPLE",
      level == mpi::ThreadLevel::single ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED");
}

void check_mpi(int code, std::string_view operation) {
  if (code == mpi::success) return;
  std::array<char, mpi::longest_text> text{};
  mpi_calls().error_string(code, text.data());
  std::string line(text.data());
  for (char& c : line) c = c == '\n' ? ' ' : c;
  const std::string what = fmt::format("{}: {}", operation, line);
  if (mpi_calls().is_truncation(code)) throw DisagreementError(what);
  throw Error(what);
}

bool wait_mpi(mpi::Request& request, std::chrono::milliseconds deadline, std::string_view operation,
              const std::function<bool()>& give_up) {
  const auto start = std::chrono::steady_clock::now();
  for (int turn = 0;; ++turn) {
    bool complete = false;
    {
      const MpiCall call;
      check_mpi(mpi_calls().test(&request, &complete, nullptr), operation);
    }
    if (complete) return true;
    if (turn < 200) continue;
    if (std::chrono::steady_clock::now() - start > deadline) return false;
    if (turn < 2000) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (give_up && give_up()) return false;
  }
}

ReturnedErrors::ReturnedErrors(std::initializer_list<mpi::Comm> communicators) {
  for (const mpi::Comm communicator : communicators) {
    before_.emplace_back(communicator, mpi_calls().comm_get_errhandler(communicator));
    mpi_calls().return_errors(communicator);
  }
}

ReturnedErrors::~ReturnedErrors() {
  for (const auto& [communicator, before] : before_) mpi_calls().restore_errhandler(communicator, before);
}

}  // namespace partita::runtime
