// The environment of the process.
#pragma once

#include <cstdlib>
#include <string_view>

namespace partita {

/// Empty where it is unset. Points into the environment: to be used at once.
inline std::string_view environment_variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

}  // namespace partita
