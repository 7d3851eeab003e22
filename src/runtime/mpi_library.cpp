#include "runtime/mpi_library.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <partita/machine_report.hpp>
#include <partita/mpi.hpp>
#include <thread>

#include "base/check.hpp"
#include "runtime/home_process.hpp"
#include "runtime/mpi_exit.hpp"
#include "runtime/mpi_group.hpp"

namespace partita {
namespace runtime {
namespace {

std::atomic<bool> initialised_by_us{false};
std::atomic<int> thread_level{-1};
std::atomic<const HomeProcess*> home_of_mpi{nullptr};
std::mutex start_mutex;
std::mutex serial_mutex;

bool is_initialised() {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}

/// MPICH's launcher, told not to kill the others when a process dies (-disable-auto-cleanup), sends them
/// SIGUSR1 instead, which kills them all the same unless somebody handles it. A handler of the program's own
/// stays.
void outlive_notice_of_launcher() {
#if defined(MPICH_NUMVERSION)
  struct sigaction present {};
  if (sigaction(SIGUSR1, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) return;
  struct sigaction heard {};
  heard.sa_handler = [](int) {};
  heard.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &heard, nullptr);
#endif
}

/// MPICH has forgotten a request's communicator when it reports the error of one that is over (a message that
/// was longer than its receive), and calls the handler of these. Where the caller started MPI, they are the
/// caller's.
void return_errors() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/// Our mpi.h and the library that was loaded are of one family (a version may differ: the families keep their
/// binary interface).
void check_loaded_library() {
  const std::string loaded = mpi_library_version();
#if defined(OMPI_MAJOR_VERSION)
  constexpr bool ours_is_open_mpi = true;
#else
  constexpr bool ours_is_open_mpi = false;
#endif
  const bool same = loaded.starts_with("Open MPI") == ours_is_open_mpi;
  check(same, "Partita was built with {}, but the MPI library loaded is {}; look at LD_LIBRARY_PATH",
        mpi_implementation(), loaded);
}

}  // namespace

std::string mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string version(text.data());
  version.resize(std::min(version.size(), version.find('\n')));
  for (char& c : version) c = c == '\t' ? ' ' : c;
  return version;
}

bool mpi_available() {
  return true;
}
bool mpi_is_finalised() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

bool mpi_is_running() {
  return is_initialised() && !mpi_is_finalised() && !mpi_is_of_parent();
}
bool mpi_initialised_by_us() {
  return initialised_by_us;
}

void check_mpi_build(const Communicator& communicator) {
  check_loaded_library();
  if (communicator.handle_bytes == 0) return;
  const bool same = communicator.implementation == mpi_implementation() &&
                    communicator.handle_bytes == static_cast<int>(sizeof(MPI_Comm));
  check(same, "the communicator belongs to {}, but Partita was built with {} (and runs with {})",
        communicator.implementation, mpi_implementation(), mpi_library_version());
}

bool mpi_is_of_parent() noexcept {
  const HomeProcess* const home = home_of_mpi.load(std::memory_order_acquire);
  return home != nullptr && !home->is_here();
}

void start_mpi() {
  const HomeProcess* const started = home_of_mpi.load(std::memory_order_acquire);
  check<UnsupportedError>(started == nullptr || started->is_here(),
                          "MPI was started by process {}, of which this one is a fork: it has no part in it",
                          started == nullptr ? 0 : started->number());
  const std::lock_guard lock(start_mutex);
  check(!mpi_is_finalised(), "MPI has been finalised already; it cannot be started again in this process");
  if (thread_level >= 0) return;
  int provided = MPI_THREAD_SINGLE;
  if (is_initialised()) {
    check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
  } else {
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    initialised_by_us = true;
    return_errors();
  }
  static const HomeProcess home;
  home_of_mpi = &home;
  std::atexit(end_at_exit);
  if (is_launched_rank()) outlive_notice_of_launcher();
  thread_level = provided;
}

MpiCall::MpiCall() {
  const int level = thread_level.load(std::memory_order_relaxed);
  if (level == MPI_THREAD_MULTIPLE) return;
  if (level == MPI_THREAD_SERIALIZED) {
    lock_ = std::unique_lock(serial_mutex);
    return;
  }
  static thread_local int is_main = -1;
  if (is_main < 0) MPI_Is_thread_main(&is_main);
  check<Error>(
      is_main != 0,
      "MPI was initialised with {}: only the thread that did so may use Partita over MPI; initialise "
      "it with MPI_THREAD_MULTIPLE",
      level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED");
}

void check_mpi(int code, std::string_view operation) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  std::string line(text.data());
  for (char& c : line) c = c == '\n' ? ' ' : c;
  const std::string what = fmt::format("{}: {}", operation, line);
  int kind = MPI_SUCCESS;
  MPI_Error_class(code, &kind);
  if (kind == MPI_ERR_TRUNCATE) throw DisagreementError(what);
  throw Error(what);
}

bool wait_mpi(MPI_Request& request, std::chrono::milliseconds deadline, std::string_view operation,
              const std::function<bool()>& give_up) {
  const auto start = std::chrono::steady_clock::now();
  for (int turn = 0;; ++turn) {
    int complete = 0;
    {
      const MpiCall call;
      check_mpi(MPI_Test(&request, &complete, MPI_STATUS_IGNORE), operation);
    }
    if (complete != 0) return true;
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

ReturnedErrors::ReturnedErrors(std::initializer_list<MPI_Comm> communicators) {
  for (const MPI_Comm communicator : communicators) {
    MPI_Comm_get_errhandler(communicator, &before_.emplace_back(communicator, MPI_ERRHANDLER_NULL).second);
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  }
}

ReturnedErrors::~ReturnedErrors() {
  for (auto& [communicator, before] : before_) {
    MPI_Comm_set_errhandler(communicator, before);
    const bool predefined = before == MPI_ERRORS_ARE_FATAL || before == MPI_ERRORS_RETURN;
    if (!predefined) MPI_Errhandler_free(&before);
  }
}

}  // namespace runtime

std::string mpi_description() {
  return runtime::mpi_library_version();
}

}  // namespace partita
