// The MPI launcher: which one it is, and the flags that it needs.
#pragma once

#include <string>
#include <vector>

namespace partita::tools {

enum class LauncherKind { none, open_mpi, mpich, other };

/// A program that starts ranks.
struct Launcher {
  LauncherKind kind = LauncherKind::none;
  std::string path = {};
  std::string version = {};             ///< the first line that it says of itself
  bool of_our_build = false;            ///< of the MPI that Partita was built with
  std::vector<std::string> flags = {};  ///< before -n
  std::string problem = {};             ///< why there is none
};

/// The MPI that Partita was built with: "openmpi", "mpich" or "none".
std::string built_with();

/// The launcher of the MPI that Partita was built with, or else what `mpirun` of the PATH is. `given`: this
/// one, instead.
Launcher find_launcher(const std::string& given = "");

/// The first program of that name in the PATH; empty: none.
std::string find_in_path(const std::string& name);
/// What a command prints (stdout and stderr together); empty where it cannot be run.
std::string output_of(const std::vector<std::string>& command);

}  // namespace partita::tools
