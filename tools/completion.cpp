// partita completion: what a shell can complete, from the command's own options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <partita/dtype.hpp>
#include <partita/machine.hpp>

#include "tools/fft_options.hpp"
#include "tools/matmul_options.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools {
namespace completion_command {

using Words = std::vector<std::string>;

struct Option {
  Words names;  ///< with their dashes
  std::string help;
  bool takes_value = false;
};

struct Command {
  std::string name, help;
  std::vector<Option> options;
  Words words;  ///< for its positional arguments; empty: files
};

const Words distributions{"slab:", "box:", "block-cyclic:", "block-noncyclic:", "replicated", "mesh:"};

Words dtypes() {
  Words names;
  for (int i = 0; i < dtype_count; ++i) names.emplace_back(name(static_cast<Dtype>(i)));
  return names;
}

// Options whose values are words of a list; the values of others are completed as files.
std::map<std::string, Words> known_values(const std::string& command) {
  const Words redistribution{"automatic", "direct", "pushed", "staged", "messages", "grouped"};
  const Words methods = command == "matmul" ? matmul_method_names()
                        : command == "fft"  ? fft_method_names()
                                            : redistribution;
  return {{"--dtype", dtypes()},
          {"--device", {"cpu", "cuda"}},
          {"--machine", Machine::shipped()},
          {"--method", methods},
          {"--kind", fft_kind_names()},
          {"--norm", {"backward", "ortho", "forward"}},
          {"--epilogue", epilogue_names()},
          {"--op", {"nn", "nt", "tn", "tt", "nc", "cn"}},
          {"--order", {"c", "f"}},
          {"--distribution", distributions},
          {"--distribution-a", distributions},
          {"--distribution-b", distributions}};
}

Words positional_words(const CLI::App& command) {
  if (command.get_name() == "completion") return {"bash", "zsh", "fish"};
  const auto takes = [&](const char* option) { return command.get_option_no_throw(option) != nullptr; };
  Words words = takes("DISTRIBUTION") || takes("FROM") ? distributions : Words{};
  if (takes("OPERATION")) words.insert(words.begin(), {"redistribute", "matmul", "fft"});
  return words;
}

Option describe(const CLI::Option& option) {
  Option result;
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  result.help = option.get_description();
  result.takes_value = option.get_items_expected_max() > 0;
  return result;
}

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> commands;
  for (const CLI::App* const command : app.get_subcommands({})) {
    Command described{command->get_name(), command->get_description(), {}, positional_words(*command)};
    for (const CLI::Option* const option : command->get_options()) {
      if (!option->get_positional() && !option->get_group().empty())
        described.options.push_back(describe(*option));
    }
    commands.push_back(std::move(described));
  }
  return commands;
}

Words names_of(const std::vector<Option>& options) {
  Words names;
  for (const Option& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

Words names_of(const std::vector<Command>& commands) {
  Words names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

const Words* values_of(const Option& option, const std::map<std::string, Words>& known) {
  for (const std::string& name : option.names) {
    if (const auto found = known.find(name); found != known.end()) return &found->second;
  }
  return nullptr;
}

// A word of single quotes, as bash, zsh and fish all read it (no help text has one of its own).
std::string quoted(std::string text) {
  std::erase(text, '\'');
  return "'" + text + "'";
}

std::string bash_values(const Command& command) {
  std::string cases;
  const auto known = known_values(command.name);
  for (const Option& option : command.options) {
    if (!option.takes_value) continue;
    const Words* const values = values_of(option, known);
    cases += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"),
                         values == nullptr ? std::string("COMPREPLY=($(compgen -f -- \"$word\"))")
                                           : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))",
                                                         fmt::join(*values, " ")));
  }
  return cases;
}

// Readline breaks words at colons; text forms of distributions have them, so only their beginning is offered.
void print_bash(const std::vector<Command>& commands) {
  fmt::print(
      "# bash completion of partita\n_partita() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} i\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n    return\n  fi\n"
      "  for ((i = 2; i < COMP_CWORD; ++i)); do\n"
      "    [[ ${{COMP_WORDS[i]}} == -- ]] && {{ COMPREPLY=($(compgen -c -f -- \"$word\")); return; }}\n"
      "  done\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      fmt::join(names_of(commands), " "));
  for (const Command& command : commands) {
    fmt::print(
        "    {})\n      case $before in\n{}      esac\n"
        "      if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n"
        "      else\n        COMPREPLY=($(compgen {} -- \"$word\"))\n      fi ;;\n",
        command.name, bash_values(command), fmt::join(names_of(command.options), " "),
        command.words.empty() ? std::string("-f") : fmt::format("-W '{}'", fmt::join(command.words, " ")));
  }
  fmt::print(
      "  esac\n  [[ ${{COMPREPLY[0]}} == *: ]] && compopt -o nospace\n}}\ncomplete -o nosort -o filenames -F "
      "_partita partita 2>/dev/null ||\n"
      "  complete -o filenames -F _partita partita\n");
}

std::string with_escaped_colons(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? "" : " ";
    for (const char c : word) text += c == ':' ? "\\:" : std::string(1, c);
  }
  return text;
}

std::string zsh_specification(const Option& option, const std::map<std::string, Words>& known) {
  std::string help = option.help;
  for (const char special : {':', '\''}) std::erase(help, special);
  std::replace(help.begin(), help.end(), '[', '(');
  std::replace(help.begin(), help.end(), ']', ')');
  const Words* const values = values_of(option, known);
  std::string specification;
  for (const std::string& name : option.names) {
    const std::string value = !option.takes_value ? ""
                              : values == nullptr ? ":value:_files"
                                                  : ":value:(" + with_escaped_colons(*values) + ")";
    specification += " " + quoted(fmt::format("{}[{}]{}", name, help, value));
  }
  return specification;
}

void print_zsh(const std::vector<Command>& commands) {
  fmt::print("#compdef partita\n_partita() {{\n  local -a commands\n  commands=(\n");
  for (const Command& command : commands) fmt::print("    {}\n", quoted(command.name + ":" + command.help));
  fmt::print(
      "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
      "  local name=$words[2]\n  shift words\n  ((CURRENT--))\n  case $name in\n");
  for (const Command& command : commands) {
    const auto known = known_values(command.name);
    fmt::print("    {}) _arguments", command.name);
    for (const Option& option : command.options) fmt::print("{}", zsh_specification(option, known));
    const std::string words = with_escaped_colons(command.words);
    fmt::print(" {} ;;\n", quoted(words.empty() ? "*:file:_files" : "*:word:(" + words + ")"));
  }
  fmt::print("  esac\n}}\n[[ $funcstack[1] == _partita ]] && _partita \"$@\" || compdef _partita partita\n");
}

std::string fish_names(const Option& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return text;
}

void print_fish(const std::vector<Command>& commands) {
  fmt::print("# fish completion of partita\n");
  for (const Command& command : commands) {
    const auto known = known_values(command.name);
    fmt::print("complete -c partita -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
               quoted(command.help));
    const std::string condition = fmt::format("-n '__fish_seen_subcommand_from {}'", command.name);
    if (!command.words.empty()) {
      fmt::print("complete -c partita {} -f -a '{}'\n", condition, fmt::join(command.words, " "));
    }
    for (const Option& option : command.options) {
      const Words* const values = values_of(option, known);
      const std::string value = !option.takes_value ? ""
                                : values == nullptr ? " -r"
                                                    : fmt::format(" -x -a '{}'", fmt::join(*values, " "));
      fmt::print("complete -c partita {}{}{} -d {}\n", condition, fish_names(option), value,
                 quoted(option.help));
    }
  }
}

void print_for(const std::string& shell, const CLI::App& app) {
  const std::vector<Command> commands = commands_of(app);
  if (shell == "bash") print_bash(commands);
  if (shell == "zsh") print_zsh(commands);
  if (shell == "fish") print_fish(commands);
}

void add_completion(CLI::App& app) {
  auto* const command = app.add_subcommand("completion", "print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      examples("source <(partita completion bash)\n"
               "partita completion zsh > ~/.zfunc/_partita\n"
               "partita completion fish > ~/.config/fish/completions/partita.fish"));
  command->callback([shell, &app] { print_for(*shell, app); });
}

const Register registered("completion", add_completion);

}  // namespace completion_command
}  // namespace partita::tools
