// Settings from the environment, as listed by `partita doctor` and docs/settings.md.
#pragma once

#include <partita/context.hpp>
#include <partita/export.hpp>
#include <string>
#include <vector>

namespace partita {

/// A setting and its current value.
struct SettingReport {
  std::string variable;  ///< environment variable
  std::string option;    ///< member of ContextOptions; empty: a setting of the process
  std::string values;    ///< allowed values
  std::string usual;     ///< default value; empty: none
  std::string purpose;
  std::string value;    ///< current value
  std::string origin;   ///< "default", "option", "environment"
  std::string problem;  ///< the error that `initialize` would throw for the value; empty: none
};

/// All settings with their current values for a context that is made with `options`. Settings of a context
/// are read when it is made, those of the process at first use (when a library is opened, for example).
/// Local; thread-safe as long as no thread changes the environment.
PARTITA_API std::vector<SettingReport> report_settings(const ContextOptions& options = {});

}  // namespace partita
