// The environment of the process.
#pragma once

#include <string_view>

namespace partita {

/// Empty where it is unset. Points into the environment: to be used at once.
std::string_view environment_variable(const char* name);

}  // namespace partita
