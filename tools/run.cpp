// partita run: starts a program on ranks, through the MPI that Partita was built with.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools {
namespace run_command {

struct Options {
  int ranks = usable_cores();
  std::string launcher;
  std::vector<std::string> program;  ///< up to "--"
  bool quiet = false;
  bool dry = false;
};

void run(const Options& options) {
  std::vector<std::string> program = options.program;
  const auto rest = arguments_after_dashes();
  if (!program.empty() && !rest.empty()) program.emplace_back("--");
  program.insert(program.end(), rest.begin(), rest.end());
  if (program.empty()) throw UsageError("what shall run? partita run -n 4 -- PROGRAM ARGUMENTS...");
  const Launcher launcher = find_launcher(options.launcher);
  if (launcher.kind == LauncherKind::none) throw std::runtime_error(launcher.problem);
  if (!launcher.of_our_build && built_with() != "none") {
    fmt::print(stderr, "partita: note: {} is not of the MPI that Partita was built with ({})\n",
               launcher.path, built_with());
  }
  if (options.dry) {
    fmt::print("{} {} -n {} {}\n", launcher.path, fmt::join(launcher.flags, " "), options.ranks,
               fmt::join(program, " "));
    return;
  }
  if (!options.quiet) {
    fmt::print(stderr, "partita: {} by {} ({})\n", count_of(options.ranks, "rank"), launcher.path,
               launcher.version);
  }
  throw ExitCode{run_job(launcher, options.ranks, program)};
}

void describe(Subcommand& command, Options& options) {
  command.ranks(options.ranks, "ranks to start (the cores that this shell may use)");
  command.word("--launcher", options.launcher, "this launcher instead of the one found", "PROGRAM");
  command.flag("-q,--quiet", options.quiet, "do not say which launcher it is");
  command.flag("--dry-run", options.dry, "print the launcher's command line and do nothing");
  command.rest(options.program);
  command.footer(
      "partita run [OPTIONS] -- PROGRAM [ARGUMENTS...]\n"
      "The exit code is that of the lowest rank that failed, 128 + signal where it was killed. More ranks "
      "than\n"
      "cores are fine, ranks are not bound to cores, and survivors outlive a dead rank.\n\n" +
      examples("partita run -n 4 -- ./first\npartita run -n 2 -- python3 solve.py --steps 10"));
}

const Register registered("run", "start a program on ranks, through the installed MPI", describe, run);

}  // namespace run_command
}  // namespace partita::tools
