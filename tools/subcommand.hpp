// What a subcommand of `partita` consists of. A new one is a new file: nothing else lists them. The only door
// to CLI11, which takes long to compile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <partita/distribution.hpp>
#include <partita/dtype.hpp>
#include <string>
#include <vector>

#include "tools/words.hpp"

namespace CLI {  // NOLINT: not our name
class App;
class Option;
}  // namespace CLI

namespace partita::tools {

std::vector<std::string> dtype_names();

/// One option of a subcommand.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& hidden();                                       ///< from help and completion
  Option& offers(const std::vector<std::string>& words);  ///< what shells complete, instead of files

 private:
  CLI::Option* option_;
};

/// A subcommand that is described: its options, in the order of its help. They write into variables that must
/// live until all is parsed, and stay as they are where an option is not given.
class Subcommand {
 public:
  explicit Subcommand(CLI::App& app) : app_(app) {}

  /// `names`: "-n,--ranks"; without dashes a positional one. `type`: what its value is called in the help.
  Option word(const std::string& names, std::string& value, const std::string& help,
              const std::string& type = "");
  Option flag(const std::string& names, bool& value, const std::string& help);
  /// Of int, std::int64_t or double, not below `least`.
  template <class Number>
  Option number(const std::string& names, Number& value, std::type_identity_t<Number> least,
                const std::string& help, const std::string& type = "N");
  Option numbers(const std::string& names, std::vector<int>& values, const std::string& help);
  /// What `parse` makes of the word. It refuses by throwing.
  template <class T, class Parse>
  Option parsed(const std::string& names, T& value, Parse parse, const std::string& help,
                const std::string& type) {
    return taken(
        names, [&value, parse](const std::string& text) { value = parse(text); }, help, type);
  }
  /// One of the words.
  template <class Value, class T>
  Option choice(const std::string& names, Value& value, const Words<T>& words, const std::string& help,
                const std::string& type = "NAME") {
    return parsed(
               names, value, [&words](const std::string& text) { return words.parse(text); }, help, type)
        .offers(words.list());
  }

  // Options that several subcommands have.
  Option ranks(int& value, const std::string& help = "ranks to start (up to 4, one per core)");
  Option distribution(const std::string& names, std::optional<Distribution>& value, const std::string& help,
                      const std::string& type = "");
  template <class Value>
  Option order(Value& value, const std::string& help) {
    return choice("--order", value, orders, help, "c|f");
  }
  template <class Value>
  Option device(Value& on_gpu, const std::string& help) {
    return choice("--device", on_gpu, devices, help, "cpu|cuda");
  }
  Option shape(Shape& value, const std::string& help);  ///< required
  Option axes(std::vector<int>& value, const std::string& help);
  template <class Value>
  Option dtype(Value& value, const std::string& help) {
    return parsed("--dtype", value, parse_dtype, help, "DTYPE").offers(dtype_names());
  }
  Option op(MatmulOptions& how, const std::string& help);
  Option reduce_dtype(MatmulOptions& how);
  /// --block, --grid, --pivoting and --memory-limit.
  void factorization(FactorOptions& how);
  Option machine(std::string& value, const std::string& help);

  /// Takes what follows the options as a separate command line.
  void rest(std::vector<std::string>& words);
  void footer(const std::string& text);
  void callback(std::function<void()> body);
  CLI::App& app() const { return app_; }

 private:
  Option taken(const std::string& names, const std::function<void(const std::string&)>& take,
               const std::string& help, const std::string& type);
  CLI::App& app_;
};

/// Adds a subcommand: `static const Register registered("layout", "who owns what", describe, show);` at
/// namespace scope. `describe` names the options, which are the members of a struct; `run` does the work with
/// them. It fails by throwing; `ExitCode` ends with the given code.
class Register {
 public:
  Register(std::string name, std::string help, std::function<void(Subcommand)> add);
  template <class Options>
  Register(std::string name, std::string help, void (*describe)(Subcommand&, Options&),
           void (*run)(const Options&))
      : Register(std::move(name), std::move(help), [=](Subcommand command) {
          const auto options = std::make_shared<Options>();
          describe(command, *options);
          command.callback([=] { run(*options); });
        }) {}
  static void add_all(CLI::App& app);  ///< in alphabetical order
};

/// The words that shells complete for an option; empty: files.
std::vector<std::string> offered_words(const CLI::Option& option);
/// As they are written: "--ranks", "-n".
std::vector<std::string> names_of(const CLI::Option& option);

/// Ends the command with this code, silently.
struct ExitCode {
  int code = 0;
};

/// The examples below a subcommand's options in its help: lines of "command # what it does".
std::string examples(const std::string& lines);

}  // namespace partita::tools
