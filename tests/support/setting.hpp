// Variables of the environment, in tests.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace partita::testing {

/// A variable for as long as this lives; what it was comes back. Set while no other thread of the test runs.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Setting() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace partita::testing
