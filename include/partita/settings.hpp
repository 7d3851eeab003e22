// What may be set from outside of a program, as `partita doctor` and docs/settings.md list it.
#pragma once

#include <partita/context.hpp>
#include <partita/export.hpp>
#include <string>
#include <vector>

namespace partita {

/// A setting, and its present value.
struct SettingReport {
  std::string variable;  ///< of the environment
  std::string option;    ///< of ContextOptions; empty: of the process as a whole
  std::string values;    ///< those that it may have
  std::string usual;     ///< the one it has when nobody says anything; empty: none
  std::string purpose;
  std::string value;    ///< the one it has now
  std::string origin;   ///< "default", "option", "environment"
  std::string problem;  ///< what is wrong with the value; empty: nothing. `initialize` would throw it
};

/// Every setting, and what it is here and now for a context that is made with `options`. The settings of a
/// context are read when it is made; those of the process when they are first needed (a library that is
/// opened, say). Local; thread-safe as far as nobody changes the environment.
PARTITA_API std::vector<SettingReport> report_settings(const ContextOptions& options = {});

}  // namespace partita
