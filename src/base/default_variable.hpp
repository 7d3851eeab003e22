// A variable of the environment that another library reads while it starts.
#pragma once

#include <string>

namespace partita {

/// Sets an environment variable during its lifetime, unless the user has set it. `setenv` and `unsetenv`
/// modify or free the array that other threads may be reading (`getenv` takes no lock); this class replaces
/// the array by a new one and restores the old one at the end. Values that other threads may read are never
/// freed. Thread-safe with concurrent `getenv`; a concurrent `setenv` is as unsafe as with any reader.
class DefaultVariable {
 public:
  DefaultVariable(const std::string& name, const std::string& value);
  ~DefaultVariable();
  DefaultVariable(const DefaultVariable&) = delete;
  DefaultVariable& operator=(const DefaultVariable&) = delete;

 private:
  char* entry_ = nullptr;  // "name=value"; null: the user's stands
  char** before_ = nullptr;
  char** with_ = nullptr;
};

}  // namespace partita
