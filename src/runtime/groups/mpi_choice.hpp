// Which MPI a process takes: pure, of what the process has loaded and of its environment.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <partita/context.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partita::runtime {

/// Those of one family have one binary interface, so one module serves them all.
enum class MpiFamily : std::uint8_t { open_mpi, mpich };
inline constexpr MpiFamily mpi_families[] = {MpiFamily::open_mpi, MpiFamily::mpich};

std::string_view name_of(MpiFamily family);         ///< "Open MPI", "MPICH": for people
std::string_view module_name_of(MpiFamily family);  ///< "openmpi", "mpich": of its module
/// The files that the loader is asked for, in this order, where nothing of the family is loaded.
std::span<const char* const> libraries_of(MpiFamily family);

/// By the text of MPI_Get_library_version or of Communicator::implementation. Intel's MPI, MVAPICH and Cray's
/// are of MPICH's family. Nothing: unknown.
std::optional<MpiFamily> family_of(std::string_view text);

/// An MPI library that the process has loaded, for whomever.
struct LoadedMpi {
  std::string path;
  std::string version;   ///< first line of MPI_Get_library_version
  bool running = false;  ///< initialised and not finalised
};

/// The value of a variable; empty where it is unset.
using Environment = std::function<std::string_view(const char* name)>;

/// What a launcher of MPI ranks has left in the environment.
struct MpiLauncher {
  std::string variable;             ///< by which it is known
  std::vector<MpiFamily> families;  ///< whose ranks it can have started, the likelier first
};
/// Empty: this process was not started by an MPI launcher.
std::optional<MpiLauncher> launcher_of(const Environment& environment);

/// How many ranks the launcher says that it has started; 0: it does not say.
int launched_ranks(const Environment& environment);

struct MpiChoice {
  /// To be opened: the first that can be. Empty: the process needs no MPI.
  std::vector<std::string> libraries;
  std::string why;  ///< these, or none: "its program runs it"
};

/// That of the caller's communicator, where one is given; else the one that runs; else one that is loaded, of
/// the launcher's family if there is a choice; else what PARTITA_MPI_LIBRARY names, and then the launcher's,
/// where a launcher has started the process; else none. `modules`: the families that there are modules for.
/// Throws ArgumentError for a communicator of an MPI that is not loaded, UnsupportedError where an MPI is
/// needed that there is no module for.
MpiChoice choose_mpi(const Communicator& communicator, const std::vector<LoadedMpi>& loaded,
                     const Environment& environment, const std::vector<MpiFamily>& modules);

/// "Open MPI and MPICH", "none".
std::string names_of(const std::vector<MpiFamily>& families);

}  // namespace partita::runtime
