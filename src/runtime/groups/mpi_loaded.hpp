// The MPI libraries that are loaded in this process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/groups/mpi_choice.hpp"

namespace partita::runtime {

/// The one that the handle of an opened library leads to; nothing: none. Initialises nothing. Thread-safe.
std::optional<LoadedMpi> mpi_of(void* handle);

/// What the program is linked with, what it has opened since, and what was opened for one library alone (as
/// Python does for its extensions). Each once. Initialises nothing. Thread-safe.
std::vector<LoadedMpi> loaded_mpis();

/// The first line of MPI_Get_library_version's text.
std::string first_line_of_version(const char* text);

}  // namespace partita::runtime
