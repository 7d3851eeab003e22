#include "base/environment_variable.hpp"

#include <cstdlib>

namespace partita {

std::string_view environment_variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

}  // namespace partita
