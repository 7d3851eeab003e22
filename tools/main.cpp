// The `partita` command.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <partita/error.hpp>
#include <partita/version.hpp>

#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/nearest.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools {
namespace {

constexpr int failure = 1;
constexpr int usage = 2;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string called_subcommand(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? "partita" : "partita " + chosen.front()->get_name();
}

// `run`: what follows its own options is the command line of a program, with options that are not ours.
bool takes_a_program(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return !chosen.empty() && chosen.front()->get_prefix_command();
}

int fail(int code, const std::string& text) {
  report_failure("partita: " + first_line(text));
  return code;
}

// The commands themselves; the exit code.
int run_guarded(CLI::App& app, std::vector<std::string> arguments) {
  const auto refuse = [&](const std::string& what) {
    return fail(usage, fmt::format("{} (see {} --help)", first_line(what), called_subcommand(app)));
  };
  // What is not known comes before what is wrong or missing: one is often the other, written wrongly, and
  // the value of an unknown option is read as a separate argument.
  const auto unknown = [&] { return unknown_word(app, arguments_before_dashes()); };
  try {
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help and version
    const std::string word = unknown();
    return refuse(word.empty() ? error.what() : word);
  } catch (const ExitCode& end) {
    return end.code;
  } catch (const UsageError& error) {
    const std::string word = takes_a_program(app) ? "" : unknown();
    return refuse(word.empty() ? error.what() : word);
  } catch (const ArgumentError& error) {
    const std::string word = takes_a_program(app) ? "" : unknown();
    return word.empty() ? fail(usage, error.what()) : refuse(word);
  } catch (const std::filesystem::filesystem_error& error) {  // whose text begins with "filesystem error: "
    return fail(failure, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return fail(failure, error.what());
  }
}

// What is printed may wait in memory until now: a disk that is full is found here. Who has closed the
// standard output wants none.
int with_output_written(int code) {
  const int why = std::fflush(stdout) == 0 ? 0 : errno;
  const bool written = why == 0 && std::ferror(stdout) == 0;
  if (code != 0 || written || why == EBADF) return code;
  const std::string reason = why == 0 ? "" : fmt::format(": {}", std::strerror(why));
  return fail(failure, "standard output: cannot write" + reason);
}

// A limit on the size of files is then an error of who writes, who says which file. Programs that `run`
// starts have theirs as they like.
void ignore_limits_on_files(const std::string& subcommand) {
  if (subcommand != "run") std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

int main(int count, char** values) {
  remember_command_line(count, values);
  if (count > 2 && std::string(values[1]) == rank_of_job_flag) return run_rank_of_job(values[2], values + 3);

  CLI::App app("Distributed arrays on CPUs and GPUs: partition once, compose everywhere.", "partita");
  app.set_version_flag("--version", PARTITA_VERSION);
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "this help");
  app.footer("`partita SUBCOMMAND --help` shows all options, with examples.");
  app.get_formatter()->column_width(28);
  Register::add_all(app);
  if (count == 1) {
    std::fputs(app.help().c_str(), stderr);
    return usage;
  }
  ignore_limits_on_files(values[1]);
  return with_output_written(run_guarded(app, arguments_before_dashes()));
}

}  // namespace partita::tools

int main(int count, char** values) {
  return partita::tools::main(count, values);
}
