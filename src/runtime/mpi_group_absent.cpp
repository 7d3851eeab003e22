// Built without MPI.
#include <partita/device_report.hpp>
#include <partita/error.hpp>

#include "runtime/mpi_group.hpp"

namespace partita {
namespace runtime {

bool mpi_available() {
  return false;
}
bool mpi_is_running() {
  return false;
}
bool mpi_initialised_by_us() {
  return false;
}
bool mpi_takes_device_memory() {
  return false;
}

}  // namespace runtime

MpiMemoryReport report_mpi_memory() {
  return {false, "there is no MPI"};
}
void runtime::note_failed_context() noexcept {}
std::string mpi_description() {
  return "none";
}

std::unique_ptr<runtime::ProcessGroup> runtime::make_mpi_group(const Communicator&, int,
                                                               std::chrono::milliseconds) {
  throw UnsupportedError(
      "this Partita was built without MPI; build it with PARTITA_MPI=openmpi or mpich, or use a ThreadGroup");
}

}  // namespace partita
