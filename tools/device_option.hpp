// The word of --device.
#pragma once

#include <partita/context.hpp>
#include <string>

namespace CLI {  // NOLINT: not our name
class App;
}

namespace partita::tools {

void add_device_option(CLI::App& command, std::string& device,
                       const std::string& help = "where the ranks compute (cpu)");

/// "cpu" or "cuda". Throws an error that says why where there is no GPU, before any rank is started.
Device parse_device(const std::string& text);

}  // namespace partita::tools
