// What a subcommand of `partita` consists of. A new one is a new file: nothing else lists them.
#pragma once

#include <stdexcept>
#include <string>

namespace CLI {  // NOLINT: not our name
class App;
}

namespace partita::tools {

/// Adds a subcommand: `static const Register layout("layout", add_layout);` at namespace scope. `add` gets
/// the whole command line and makes its subcommand with a callback that does the work. The callback fails by
/// throwing; `ExitCode` ends with a code of its own.
class Register {
 public:
  Register(std::string name, void (*add)(CLI::App&));
  static void add_all(CLI::App& app);  ///< in alphabetical order
};

/// Ends the command with this code, silently.
struct ExitCode {
  int code = 0;
};

/// The command line is wrong: one line on stderr, exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The examples below a subcommand's options in its help: lines of "command # what it does".
std::string examples(const std::string& lines);

}  // namespace partita::tools
