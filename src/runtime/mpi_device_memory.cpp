// Whether the MPI that runs takes addresses of device memory.
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <partita/device_report.hpp>
#include <partita/error.hpp>

#include "runtime/device_memory_query.hpp"
#include "runtime/mpi_group.hpp"
#include "runtime/mpi_library.hpp"

namespace partita {
namespace {

/// The errors of calls that have no communicator go to the handlers of these two, which end the process
/// unless somebody has said otherwise.
class ReturnedErrors {
 public:
  ReturnedErrors() {
    for (Handler& one : handlers_) {
      MPI_Comm_get_errhandler(one.communicator, &one.before);
      MPI_Comm_set_errhandler(one.communicator, MPI_ERRORS_RETURN);
    }
  }
  ~ReturnedErrors() {
    for (Handler& one : handlers_) {
      MPI_Comm_set_errhandler(one.communicator, one.before);
      const bool predefined = one.before == MPI_ERRORS_ARE_FATAL || one.before == MPI_ERRORS_RETURN;
      if (!predefined) MPI_Errhandler_free(&one.before);
    }
  }
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;

 private:
  struct Handler {
    MPI_Comm communicator;
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  };
  std::array<Handler, 2> handlers_{{{MPI_COMM_WORLD}, {MPI_COMM_SELF}}};
};

/// Of the MPI library, also where it was opened for somebody else alone; null: it has none.
template <class Function>
void find(const char* name, Function*& function) {
  void* found = dlsym(RTLD_DEFAULT, name);
  Dl_info mine{};
  if (found == nullptr && dladdr(reinterpret_cast<const void*>(&MPI_Query_thread), &mine) != 0) {
    void* const library = dlopen(mine.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return;
    found = dlsym(library, name);
    dlclose(library);  // one share of it: it stays open
  }
  function = reinterpret_cast<Function*>(found);
}

std::string ask() {
  DeviceMemoryQueries queries;
  find("MPIX_GPU_query_support", queries.gpu_support);
  find("MPIX_Query_cuda_support", queries.cuda_support);
  const MpiCall call;
  const ReturnedErrors errors;
  return why_no_device_memory(mpi_library_version(), queries, std::getenv("MPICH_GPU_SUPPORT_ENABLED"));
}

/// Asked once: the answer stays what it was when MPI started.
std::string why_not() {
  static std::mutex mutex;
  static std::optional<std::string> answer;
  if (!mpi_is_running()) return "MPI does not run";
  const std::lock_guard lock(mutex);
  if (!answer) answer = ask();
  return *answer;
}

}  // namespace

bool mpi_takes_device_memory() {
  return why_not().empty();
}

MpiMemoryReport report_mpi_memory() {
  MpiMemoryReport report;
  try {
    report.why_host_only = why_not();
  } catch (const Error& error) {
    report.why_host_only = error.what();
  }
  report.takes_device_memory = report.why_host_only.empty();
  return report;
}

}  // namespace partita
