// A job: ranks that the command starts, itself once a rank or a program of the user's, by the MPI launcher
// (which one it is, and the flags that it needs), or by itself where there is none.
#pragma once

#include <functional>
#include <partita/context.hpp>
#include <string>
#include <vector>

namespace partita::tools {

enum class LauncherKind { none, own, open_mpi, mpich, other };

/// A program that starts ranks.
struct Launcher {
  LauncherKind kind = LauncherKind::none;
  std::string path = {};
  std::string version = {};             ///< the first line that it says of itself
  std::string module = {};              ///< of the MPI whose ranks it starts; empty: unknown
  std::vector<std::string> flags = {};  ///< before -n
  std::string problem = {};             ///< why there is none of MPI's
};

/// This Partita has a module for some MPI.
bool has_mpi();
/// It has that one ("openmpi").
bool has_mpi(const std::string& module);

/// The launcher of the MPI that Partita was built with, or one in the PATH of an MPI with a module here, or
/// else, and where it has none, our own. `given`: this one, instead.
Launcher find_launcher(const std::string& given = "");

/// This command itself: ranks on this machine, connected by sockets, without MPI.
Launcher own_launcher();

/// The first program of that name in the PATH; empty: none.
std::string find_in_path(const std::string& name);
/// Empty if the file does not exist.
std::string first_line_of(const std::string& path);
/// What a command prints (stdout and stderr together); empty where it cannot be run.
std::string output_of(const std::vector<std::string>& command);

/// Starts `program` on `ranks` ranks, waits for them, and returns the exit code: that of the lowest rank that
/// failed (128 + signal where one was killed), or the launcher's own. Launchers that let survivors outlive a
/// dead rank say that all went well, so each rank of the job leaves its code in a folder of the job.
int run_job(const Launcher& launcher, int ranks, const std::vector<std::string>& program);

/// `partita --rank-of-job FOLDER PROGRAM...`: what the launcher starts as each rank.
inline constexpr const char* rank_of_job_flag = "--rank-of-job";
int run_rank_of_job(const std::string& folder, char** program);

/// Calls `body` on ranks: those of the launcher that started this process, or `ranks` ranks that it starts by
/// starting this very command line again (this process then ends with the job's code), or threads where
/// Partita has no MPI. One rank needs no launcher.
void on_ranks(int ranks, const std::function<void(Context&)>& body, const ContextOptions& options = {});

/// The rank that the launcher gave this process; 0 without one.
int launched_rank();
int usable_cores();  ///< that this process may run on
int usual_ranks();   ///< of commands that start their own: one a core, up to 4
/// Throws an error that says why where there is none; before ranks are started.
Device usable_gpu();

/// One line on stderr, from one rank: in a job of ours, the job prints that of the lowest rank.
void report_failure(const std::string& line);

}  // namespace partita::tools
