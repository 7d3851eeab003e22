// partita run: starts a program on ranks, through the MPI that is there or without any.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools::run_command {

struct Options {
  int ranks = 0;    ///< 0: not given
  int threads = 0;  ///< the same without MPI
  std::string launcher;
  std::vector<std::string> program;  ///< up to "--"
  bool quiet = false;
  bool dry = false;
};

Launcher wanted_launcher(const Options& options) {
  if (options.threads == 0) return find_launcher(options.launcher);
  if (options.ranks > 0)
    throw UsageError("-n and --threads exclude each other: both set the number of ranks");
  if (!options.launcher.empty()) throw UsageError("--threads needs no launcher");
  return own_launcher();
}

std::string command_of(const Launcher& launcher, int ranks) {
  if (launcher.kind == LauncherKind::own) return fmt::format("{} run --threads {} --", launcher.path, ranks);
  return fmt::format("{} {} -n {}", launcher.path, fmt::join(launcher.flags, " "), ranks);
}

std::string description_of(const Launcher& launcher) {
  if (launcher.kind == LauncherKind::own) {
    const std::string why = launcher.problem.empty() ? "" : fmt::format(" ({})", launcher.problem);
    return fmt::format("on this machine, without MPI{}", why);
  }
  return fmt::format("by {} ({})", launcher.path, launcher.version);
}

void run(const Options& options) {
  std::vector<std::string> program = options.program;
  const auto rest = arguments_after_dashes();
  if (!program.empty() && !rest.empty()) program.emplace_back("--");
  program.insert(program.end(), rest.begin(), rest.end());
  if (program.empty()) throw UsageError("which program? partita run -n 4 -- PROGRAM ARGUMENTS...");
  const Launcher launcher = wanted_launcher(options);
  const int given = std::max(options.ranks, options.threads);
  const int ranks = given > 0 ? given : usable_cores();
  if (launcher.kind == LauncherKind::none) throw std::runtime_error(launcher.problem);
  if (!launcher.module.empty() && !has_mpi(launcher.module)) {
    fmt::print(stderr, "partita: note: {} starts ranks of an MPI for which this Partita has no module ({})\n",
               launcher.path, launcher.module);
  }
  if (options.dry) {
    fmt::print("{} {}\n", command_of(launcher, ranks), fmt::join(program, " "));
    return;
  }
  if (!options.quiet) {
    fmt::print(stderr, "partita: {} {}\n", count_of(ranks, "rank"), description_of(launcher));
  }
  throw ExitCode{run_job(launcher, ranks, program)};
}

void describe(Subcommand& command, Options& options) {
  command.ranks(options.ranks, "ranks to start (the cores that this shell may use)");
  command.number("--threads", options.threads, 1,
                 "instead of -n: start this number of ranks on this machine, without MPI");
  command.word("--launcher", options.launcher, "use this launcher instead of the one found", "PROGRAM");
  command.flag("-q,--quiet", options.quiet, "do not print which launcher is used");
  command.flag("--dry-run", options.dry, "print the launcher's command line and exit");
  command.rest(options.program);
  command.footer(
      "partita run [OPTIONS] -- PROGRAM [ARGUMENTS...]\n"
      "The exit code is that of the lowest rank that failed, or 128 + signal if it was killed. More ranks "
      "than\n"
      "cores are fine, ranks are not bound to cores, and survivors outlive a dead rank.\n\n" +
      examples("partita run -n 4 -- ./first\npartita run --threads 4 -- ./first\npartita run -n 2 -- python3 "
               "solve.py --steps 10"));
}

const Register registered("run", "start a program on ranks, through the installed MPI or without any",
                          describe, run);

}  // namespace partita::tools::run_command
