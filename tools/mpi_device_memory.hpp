// Whether the MPI takes addresses of device memory.
#pragma once

#include <optional>

namespace partita::tools {

/// Asks the MPI, which answers only once it runs: starts it, and ends it again, in this process, which cannot
/// start it a second time. Nothing: it has no answer, or there is none.
std::optional<bool> ask_mpi_for_device_memory();

}  // namespace partita::tools
