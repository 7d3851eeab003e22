// The programs of apps/, small.
#pragma once

#include <partita/context.hpp>
#include <string>

#include "tools/words.hpp"

namespace partita::tools {

enum class App : std::uint8_t { redistribution, density, shallow_water, transformer };
extern const Words<App> apps;

/// Writes its pictures into the folder. Collective; throws where its checks fail.
void demonstrate_app(const Context& context, App app, const std::string& folder);

}  // namespace partita::tools
