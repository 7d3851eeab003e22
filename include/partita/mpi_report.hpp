// Which MPI this process talks through, and why.
#pragma once

#include <partita/export.hpp>
#include <string>
#include <vector>

namespace partita {

/// One Partita serves every MPI that it has a module for. A process takes that of the communicator it is
/// given; else the one that runs in it; and where a launcher has started it, the one that it has loaded, or
/// else what PARTITA_MPI_LIBRARY names, or else the launcher's. Otherwise it takes none. What was taken
/// stays.
struct MpiReport {
  bool taken = false;       ///< a context has opened it; else it is what one would take now
  std::string description;  ///< "Open MPI v4.1.4, ..."; empty: none, or not opened yet
  std::string library;      ///< the file, or the name that the loader will be asked for; empty: none
  std::string module;       ///< the name of the module that calls it; empty: none yet
  std::string why;          ///< it, or none
  /// What Partita was built to talk to.
  struct Module {
    std::string name;  ///< "openmpi", "mpich": it serves Intel's MPI, MVAPICH and Cray's, too
    std::string path;  ///< of its file
    std::vector<std::string> libraries;  ///< those that the loader is asked for, one after another
  };
  std::vector<Module> modules;  ///< that are installed
};

/// Opens and starts nothing; never an error: what is wrong stands in `why`. Local, thread-safe.
PARTITA_API MpiReport report_mpi();

}  // namespace partita
