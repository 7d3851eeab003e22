#include "device/device_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace partita::devices {
namespace {

struct DeviceCode {
  int major = 0, minor = 0;
  bool machine = false;   ///< for devices of the same major version
  bool portable = false;  ///< for later ones, too
  bool exact = false;     ///< for no others
};

DeviceCode parse_device_code(std::string_view text) {
  int number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  const std::string_view rest(end, text.data() + text.size());
  const bool exact = rest.starts_with("a");
  return {.major = number / 10,
          .minor = number % 10,
          .machine = !rest.ends_with("-virtual"),
          .portable = !exact && !rest.starts_with("f") && !rest.ends_with("-real"),
          .exact = exact};
}

std::vector<DeviceCode> parse_device_codes(std::string_view architectures) {
  std::vector<DeviceCode> codes;
  while (!architectures.empty()) {
    const std::size_t comma = std::min(architectures.find(','), architectures.size());
    codes.push_back(parse_device_code(architectures.substr(0, comma)));
    architectures.remove_prefix(std::min(comma + 1, architectures.size()));
  }
  return codes;
}

bool runs_on(const DeviceCode& code, int major, int minor) {
  if (code.exact) return code.major == major && code.minor == minor;
  if (code.portable && std::pair(major, minor) >= std::pair(code.major, code.minor)) return true;
  return code.machine && code.major == major && code.minor <= minor;
}

}  // namespace

bool has_code_for(std::string_view architectures, int major, int minor) {
  const std::vector<DeviceCode> codes = parse_device_codes(architectures);
  return std::any_of(codes.begin(), codes.end(),
                     [&](const DeviceCode& code) { return runs_on(code, major, minor); });
}

std::string describe_architectures(std::string_view architectures) {
  std::vector<std::string> machine, later;
  for (const DeviceCode& code : parse_device_codes(architectures)) {
    const std::string capability = fmt::format("{}.{}", code.major, code.minor);
    if (code.machine) machine.push_back(capability);
    if (code.portable) later.push_back(capability);
  }
  std::string text = fmt::format("{}", fmt::join(machine, ", "));
  if (!later.empty())
    text += fmt::format("{}all later than {}", text.empty() ? "" : ", and ", fmt::join(later, " or "));
  return text;
}

}  // namespace partita::devices
