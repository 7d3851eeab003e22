// Whether the MPI takes addresses of device memory.
#pragma once

#include <string>

namespace partita::tools {

/// Why not; empty: it does. Asks the MPI, which answers only once it runs: starts it, and ends it again, in
/// this process, which cannot start it a second time.
std::string ask_mpi_for_device_memory();

}  // namespace partita::tools
