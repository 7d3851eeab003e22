// The MPI that this process uses, and why.
#pragma once

#include <partita/export.hpp>
#include <string>
#include <vector>

namespace partita {

/// One build serves every MPI that it has a module for. A process uses the MPI of the communicator it is
/// given; otherwise the one that is initialised in it; otherwise, if a launcher started it, the one that is
/// loaded, or the one that PARTITA_MPI_LIBRARY names, or the launcher's; otherwise none. The choice is made
/// once.
struct MpiReport {
  bool taken = false;       ///< whether a context has opened it; otherwise it is what one would use now
  std::string description;  ///< "Open MPI v4.1.4, ..."; empty: none, or not opened yet
  std::string library;      ///< its file, or the name that will be loaded; empty: none
  std::string module;       ///< name of the module that calls it; empty: none yet
  std::string why;          ///< reason for this MPI, or for none
  /// A module for one family of MPI libraries.
  struct Module {
    std::string name;  ///< "openmpi", or "mpich", which also serves Intel MPI, MVAPICH and Cray MPICH
    std::string path;  ///< path of its file
    std::vector<std::string> libraries;  ///< names to load, in order of preference
  };
  std::vector<Module> modules;  ///< installed modules
};

/// Reports without opening or initialising anything. Never throws: problems are described in `why`. Local,
/// thread-safe.
PARTITA_API MpiReport report_mpi();

}  // namespace partita
