#include <mpi.h>

#include <partita/device_report.hpp>

#include "tools/doctor.hpp"

namespace partita::tools {

std::string ask_mpi_for_device_memory() {
  if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) return "MPI does not start";
  const MpiMemoryReport report = report_mpi_memory();
  MPI_Finalize();
  return report.why_host_only;
}

}  // namespace partita::tools
