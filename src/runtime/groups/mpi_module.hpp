// The MPI of this process and the module that calls it, opened when the first context wants them.
#pragma once

#include <optional>
#include <partita/context.hpp>
#include <string>

#include "mpi/calls.hpp"
#include "runtime/groups/mpi_choice.hpp"

namespace partita::runtime {

struct OpenedMpi {
  const mpi::Calls* calls = nullptr;
  MpiFamily family = MpiFamily::open_mpi;
  std::string library;  ///< its file
  std::string version;  ///< first line of MPI_Get_library_version
  std::string why;      ///< it was taken
};

/// Chooses (see `choose_mpi`) and opens at the first call, for good; initialises nothing. Throws
/// UnsupportedError where none is to be had, ArgumentError for a communicator of another MPI. Thread-safe.
const OpenedMpi& open_mpi(const Communicator& communicator = {});

/// Null: none has been opened.
const OpenedMpi* opened_mpi() noexcept;

/// Of what `open_mpi` has opened.
inline const mpi::Calls& mpi_calls() {
  return *opened_mpi()->calls;
}

}  // namespace partita::runtime
