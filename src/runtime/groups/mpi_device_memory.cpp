// Whether the MPI that runs takes addresses of device memory.
#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <partita/device_report.hpp>
#include <partita/error.hpp>

#include "runtime/groups/device_memory_query.hpp"
#include "runtime/groups/mpi_group.hpp"
#include "runtime/groups/mpi_library.hpp"
#include "runtime/groups/mpi_module.hpp"

namespace partita {
namespace {

/// Of the MPI library, which all libraries see; null: it has none.
template <class Function>
void find(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

std::string ask() {
  const runtime::OpenedMpi* const mpi = &runtime::open_mpi();
  runtime::DeviceMemoryQueries queries;
  find("MPIX_GPU_query_support", queries.gpu_support);
  find("MPIX_Query_cuda_support", queries.cuda_support);
  const runtime::MpiCall call;
  // The error handler of calls that have no communicator, which otherwise ends the
  // process.
  const runtime::ReturnedErrors errors({mpi->calls->world, mpi->calls->self});
  return runtime::why_no_device_memory(mpi->version, queries, std::getenv("MPICH_GPU_SUPPORT_ENABLED"));
}

/// Asked once: the answer stays what it was when MPI started.
std::string why_not() {
  static std::mutex mutex;
  static std::optional<std::string> answer;
  if (!runtime::mpi_is_running()) return "MPI does not run";
  const std::lock_guard lock(mutex);
  if (!answer) answer = ask();
  return *answer;
}

}  // namespace

bool runtime::mpi_takes_device_memory() {
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
