#include "tools/nearest.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "tools/subcommand.hpp"

namespace partita::tools {
namespace {

/// Insertions, deletions and replacements that make one word of the other: one row of the table at a time.
std::size_t edits(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    for (std::string& name : names_of(*option)) names.push_back(std::move(name));
  }
  return names;
}

/// Neither a negative number nor a lone dash.
bool looks_like_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isdigit(static_cast<unsigned char>(word[1])) == 0;
}

bool has(const std::vector<std::string>& known, const std::string& word) {
  // -n4 is -n and its value.
  const std::string name = word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
  return std::ranges::find(known, name) != known.end();
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edits(word, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::string meant = nearest(word, known);
  return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return "";
  const std::vector<std::string> commands = commands_of(app);
  const std::string& first = arguments.front();
  const bool is_command = std::ranges::find(commands, first) != commands.end();
  if (!is_command && !looks_like_option(first)) {
    return fmt::format("there is no command \"{}\"{}", first, suggestion(first, commands));
  }
  const CLI::App& called = is_command ? *app.get_subcommand(first) : app;
  const std::vector<std::string> options = options_of(called);
  for (const std::string& word : arguments) {
    if (word == "--") break;
    if (!looks_like_option(word) || has(options, word)) continue;
    return fmt::format("there is no option {}{}", word, suggestion(word, options));
  }
  return "";
}

}  // namespace partita::tools
