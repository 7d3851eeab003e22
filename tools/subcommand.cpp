#include "tools/subcommand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace partita::tools {
namespace {

using Add = void (*)(CLI::App&);

// Made on first use: registrars of other files run before main, in any order.
std::map<std::string, Add>& registered() {
  static std::map<std::string, Add> all;
  return all;
}

}  // namespace

Register::Register(std::string name, Add add) {
  registered().emplace(std::move(name), add);
}

void Register::add_all(CLI::App& app) {
  for (const auto& [name, add] : registered()) add(app);
}

std::string examples(const std::string& lines) {
  std::string text = "Examples:\n";
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) text += fmt::format("  {}\n", line);
  text.pop_back();
  return text;
}

}  // namespace partita::tools
