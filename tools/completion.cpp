// partita completion: what a shell can complete, from the command's own options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "tools/subcommand.hpp"

namespace partita::tools::completion_command {

using Words = std::vector<std::string>;
using tools::names_of;  // of an option

struct Command {
  std::string name, help;
  std::vector<const CLI::Option*> options;
  Words words;  ///< for its positional arguments; empty: files
};

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

Command describe(const CLI::App& app) {
  Command command{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* const option : app.get_options()) {
    if (!option->get_positional() && !option->get_group().empty()) command.options.push_back(option);
    if (!option->get_positional()) continue;
    for (const std::string& word : offered_words(*option)) {
      if (std::ranges::find(command.words, word) == command.words.end()) command.words.push_back(word);
    }
  }
  return command;
}

Words names_of(const Command& command) {
  Words names;
  for (const CLI::Option* const option : command.options) {
    for (std::string& name : names_of(*option)) names.push_back(std::move(name));
  }
  return names;
}

// A word of single quotes, as bash, zsh and fish all read it (no help text contains one).
std::string quoted(std::string text) {
  std::erase(text, '\'');
  return "'" + text + "'";
}

// What bash's compgen offers: the words, or files.
std::string compgen(const Words& words) {
  const std::string what = words.empty() ? "-f" : fmt::format("-W '{}'", fmt::join(words, " "));
  return fmt::format("COMPREPLY=($(compgen {} -- \"$word\"))", what);
}

// Readline breaks words at colons; text forms of distributions have them, so only their beginning is offered.
void print_bash(const std::vector<Command>& commands) {
  Words names;
  for (const Command& command : commands) names.push_back(command.name);
  names.insert(names.end(), {"--help", "--version"});
  fmt::print(
      "# bash completion of partita\n_partita() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} i\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n    {}\n    return\n  fi\n"
      "  for ((i = 2; i < COMP_CWORD; ++i)); do\n"
      "    [[ ${{COMP_WORDS[i]}} == -- ]] && {{ COMPREPLY=($(compgen -c -f -- \"$word\")); return; }}\n"
      "  done\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      compgen(names));
  for (const Command& command : commands) {
    fmt::print("    {})\n      case $before in\n", command.name);
    for (const CLI::Option* const option : command.options) {
      if (takes_value(*option))
        fmt::print("        {}) {}; return ;;\n", fmt::join(names_of(*option), "|"),
                   compgen(offered_words(*option)));
    }
    fmt::print(
        "      esac\n      if [[ $word == -* ]]; then\n        {}\n      else\n        {}\n      fi ;;\n",
        compgen(names_of(command)), compgen(command.words));
  }
  fmt::print(
      "  esac\n  [[ ${{COMPREPLY[0]}} == *: ]] && compopt -o nospace\n}}\ncomplete -o nosort -o filenames -F "
      "_partita partita 2>/dev/null ||\n"
      "  complete -o filenames -F _partita partita\n");
}

// What zsh offers for an argument: words, whose colons are escaped, or files.
std::string zsh_action(const Words& words) {
  if (words.empty()) return "_files";
  std::string text;
  for (const char c : fmt::format("({})", fmt::join(words, " "))) {
    if (c == ':') text += '\\';
    text += c;
  }
  return text;
}

std::string zsh_specification(const CLI::Option& option) {
  std::string help = option.get_description();
  std::erase(help, ':');
  std::ranges::replace(help, '[', '(');
  std::ranges::replace(help, ']', ')');
  const std::string value = takes_value(option) ? ":value:" + zsh_action(offered_words(option)) : "";
  std::string specification;
  for (const std::string& name : names_of(option))
    specification += " " + quoted(fmt::format("{}[{}]{}", name, help, value));
  return specification;
}

void print_zsh(const std::vector<Command>& commands) {
  fmt::print("#compdef partita\n_partita() {{\n  local -a commands\n  commands=(\n");
  for (const Command& command : commands) fmt::print("    {}\n", quoted(command.name + ":" + command.help));
  fmt::print(
      "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
      "  local name=$words[2]\n  shift words\n  ((CURRENT--))\n  case $name in\n");
  for (const Command& command : commands) {
    fmt::print("    {}) _arguments", command.name);
    for (const CLI::Option* const option : command.options) fmt::print("{}", zsh_specification(*option));
    fmt::print(" {} ;;\n", quoted("*:word:" + zsh_action(command.words)));
  }
  fmt::print("  esac\n}}\n[[ $funcstack[1] == _partita ]] && _partita \"$@\" || compdef _partita partita\n");
}

void print_fish(const std::vector<Command>& commands) {
  fmt::print("# fish completion of partita\n");
  for (const Command& command : commands) {
    fmt::print("complete -c partita -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
               quoted(command.help));
    const std::string line =
        fmt::format("complete -c partita -n '__fish_seen_subcommand_from {}'", command.name);
    if (!command.words.empty()) fmt::print("{} -f -a '{}'\n", line, fmt::join(command.words, " "));
    for (const CLI::Option* const option : command.options) {
      fmt::print("{}", line);
      for (const std::string& name : option->get_lnames()) fmt::print(" -l {}", name);
      for (const std::string& name : option->get_snames()) fmt::print(" -s {}", name);
      const Words words = offered_words(*option);
      const std::string value = words.empty() ? " -r" : fmt::format(" -x -a '{}'", fmt::join(words, " "));
      fmt::print("{} -d {}\n", takes_value(*option) ? value : "", quoted(option->get_description()));
    }
  }
}

using Print = void (*)(const std::vector<Command>&);
const tools::Words<std::size_t> shells("shell", {"bash", "zsh", "fish"});
constexpr Print printers[] = {print_bash, print_zsh, print_fish};

void add_completion(Subcommand command) {
  const auto shell = std::make_shared<std::size_t>();
  command.choice("SHELL", *shell, shells, "bash, zsh or fish", "").required();
  command.footer(
      examples("source <(partita completion bash)\n"
               "partita completion zsh > ~/.zfunc/_partita\n"
               "partita completion fish > ~/.config/fish/completions/partita.fish"));
  command.callback([shell, all = command.app().get_parent()] {
    std::vector<Command> commands;
    for (const CLI::App* const one : all->get_subcommands({})) commands.push_back(describe(*one));
    printers[*shell](commands);
  });
}

const Register registered("completion", "print a completion script for a shell", add_completion);

}  // namespace partita::tools::completion_command
