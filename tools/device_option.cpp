#include "tools/device_option.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <partita/device_report.hpp>

namespace partita::tools {

void add_device_option(CLI::App& command, std::string& device, const std::string& help) {
  command.add_option("--device", device, help)
      ->check(CLI::IsMember({"cpu", "cuda"}).description(""))
      ->type_name("cpu|cuda");
}

Device parse_device(const std::string& text) {
  if (text != "cuda") return Device::cpu();
  const DeviceReport report = report_devices();
  if (report.devices.empty()) {
    throw std::runtime_error(
        fmt::format("--device cuda: no GPU can be used: {} (see partita doctor)", report.note));
  }
  return Device::cuda();
}

}  // namespace partita::tools
