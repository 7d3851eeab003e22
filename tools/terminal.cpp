#include "tools/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace partita::tools {
namespace {

constexpr const char* variable = "PARTITA_TERMINAL";

std::string_view environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

int width() {
  winsize size{};
  for (const int file : {STDOUT_FILENO, STDERR_FILENO}) {
    if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  return 80;
}

Terminal detect() {
  Terminal result;
  result.output = isatty(STDOUT_FILENO) == 1;
  result.error = isatty(STDERR_FILENO) == 1;
  result.colours = result.output && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  const std::string_view depth = environment("COLORTERM");
  result.true_colour = depth == "truecolor" || depth == "24bit";
  result.columns = width();
  return result;
}

}  // namespace

Terminal terminal() {
  int output = 0, error = 0, colours = 0, true_colour = 0, columns = 0;
  const std::string_view passed = environment(variable);
  if (std::sscanf(passed.data(), "%d,%d,%d,%d,%d", &output, &error, &colours, &true_colour, &columns) != 5) {
    return detect();
  }
  return {output != 0, error != 0, colours != 0, true_colour != 0, columns};
}

void pass_terminal_on() {
  const Terminal now = terminal();
  setenv(
      variable,
      fmt::format("{:d},{:d},{:d},{:d},{}", now.output, now.error, now.colours, now.true_colour, now.columns)
          .c_str(),
      1);
}

}  // namespace partita::tools
