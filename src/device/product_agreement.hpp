// All ranks of a context make the same product the same way.
#pragma once

#include <string>
#include <string_view>

namespace partita::devices {

struct DeviceRuntime;

/// The choices of this rank since the last call. Local; starts the math library if necessary: Errors.
std::string news_of_choices(DeviceRuntime& state);

/// The choices of the lowest rank that has made them count from here on. Collective, blocking.
void agree_on_choices(DeviceRuntime& state, std::string_view operation, const std::string& news);

}  // namespace partita::devices
