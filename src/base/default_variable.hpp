// A variable of the environment that another library reads while it starts.
#pragma once

#include <string>

namespace partita {

/// The variable for as long as this lives, unless the user has set it. `setenv` and `unsetenv` write into the
/// array that other threads may be reading (`getenv` takes no lock), or free it; here a new array takes its
/// place, the one before stays as it is, and comes back. What has been there for others to read is never
/// freed. Thread-safe, beside any `getenv`; a `setenv` of somebody else's at the same time is as unsafe as
/// beside any reader.
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
