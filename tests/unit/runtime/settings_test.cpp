#include "support/test.hpp"

namespace partita {
namespace {

using testing::Setting;

SettingReport report_of(const std::string& variable, const ContextOptions& options = {}) {
  for (const SettingReport& report : report_settings(options)) {
    if (report.variable == variable) return report;
  }
  ADD_FAILURE() << "no setting " << variable;
  return {};
}

TEST(Settings, SayWhereTheirValuesComeFrom) {
  const Setting unset("PARTITA_THREADS", "");
  EXPECT_EQ(report_of("PARTITA_THREADS").origin, "default");
  EXPECT_EQ(report_of("PARTITA_THREADS").value, "0");
  ContextOptions options{.threads = 3};
  EXPECT_EQ(report_of("PARTITA_THREADS", options).origin, "option");
  EXPECT_EQ(report_of("PARTITA_THREADS", options).value, "3");
  const Setting threads("PARTITA_THREADS", "2");
  EXPECT_EQ(report_of("PARTITA_THREADS", options).origin, "environment");
  EXPECT_EQ(report_of("PARTITA_THREADS", options).value, "2");
  EXPECT_EQ(report_of("PARTITA_THREADS", options).problem, "");
}

TEST(Settings, BadValuesAreSaid) {
  const Setting threads("PARTITA_THREADS", "many");
  EXPECT_EQ(report_of("PARTITA_THREADS").problem,
            "PARTITA_THREADS is \"many\"; it must be a whole number, 0 or more");
}

TEST(Settings, OptionsAreCalledAsTheirVariables) {
  for (const SettingReport& report : report_settings()) {
    if (report.option.empty()) continue;
    std::string name = "PARTITA_" + report.option;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    EXPECT_EQ(name, report.variable);
  }
}

std::string table() {
  std::ostringstream text;
  text << "| variable | option | values | default | what it sets |\n|---|---|---|---|---|\n";
  for (const SettingReport& report : report_settings()) {
    const std::string option = report.option.empty() ? "" : "`" + report.option + "`";
    text << "| `" << report.variable << "` | " << option << " | " << report.values << " | " << report.usual
         << " | " << report.purpose << " |\n";
  }
  return text.str();
}

// The file's table is this one, letter by letter.
TEST(Settings, AreAllInTheDocs) {
  std::ifstream file(PARTITA_DOCS "/settings.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(contains(text.str(), table())) << "docs/settings.md should have\n" << table();
}

}  // namespace
}  // namespace partita
