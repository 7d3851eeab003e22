// What the environment says of contexts and libraries.
#include <fmt/format.h>

#include <partita/settings.hpp>

#include "tools/doctor.hpp"

namespace partita::tools {

Finding examine_settings() {
  Finding finding{"settings", Health::ok, ""};
  int given = 0;
  for (const SettingReport& setting : report_settings()) {
    given += setting.origin == "environment" ? 1 : 0;
    finding.details.push_back(fmt::format("{} = {} ({})", setting.variable,
                                          setting.value.empty() ? "unset" : setting.value, setting.origin));
    if (setting.problem.empty() || finding.health == Health::broken) continue;
    finding.health = Health::broken;
    finding.summary = setting.problem;
    finding.advice = fmt::format("unset {}, or see docs/settings.md", setting.variable);
  }
  if (finding.summary.empty())
    finding.summary = fmt::format("{} of {} from the environment", given, finding.details.size());
  return finding;
}

}  // namespace partita::tools
