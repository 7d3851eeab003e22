// partita doctor: what works on this machine, what does not, and what to do about it.
#include "tools/doctor.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <partita/settings.hpp>
#include <partita/version.hpp>

#include "tools/subcommand.hpp"
#include "tools/terminal.hpp"

namespace partita::tools {
namespace doctor_command {

const char* word(Health health) {
  static constexpr std::array words{"ok", "warning", "missing", "broken"};
  return words[static_cast<std::size_t>(health)];
}

std::string painted(Health health, bool colours) {
  static constexpr std::array codes{32, 33, 36, 31};
  if (!colours) return fmt::format("{:<8}", word(health));
  return fmt::format("\x1b[{}m{:<8}\x1b[0m", codes[static_cast<std::size_t>(health)], word(health));
}

std::vector<Finding> examine() {
  return {
      examine_mpi(),     examine_launcher(),  examine_cores(), examine_memory(),   examine_shared_memory(),
      examine_blas(),    examine_fft(),       examine_cuda(),  examine_links(),    examine_device_messages(),
      examine_cublas(),  examine_cublas_lt(), examine_cufft(), examine_cusolver(), examine_nccl(),
      examine_nvshmem(), examine_settings()};
}

void print(const std::vector<Finding>& findings) {
  const bool colours = terminal().colours;
  for (const Finding& finding : findings) {
    fmt::print("{:<14} {} {}\n", finding.subject, painted(finding.health, colours), finding.summary);
    for (const std::string& detail : finding.details) fmt::print("{:<24}{}\n", "", detail);
    if (!finding.advice.empty()) fmt::print("{:<24}to do: {}\n", "", finding.advice);
  }
}

void print_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json document{{"partita", PARTITA_VERSION}};
  document["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    document["findings"].push_back({{"subject", finding.subject},
                                    {"health", word(finding.health)},
                                    {"summary", finding.summary},
                                    {"details", finding.details},
                                    {"advice", finding.advice}});
  }
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

struct Options {
  bool json = false, starts_mpi = false;
  std::string mpi;  ///< to be asked
};

void diagnose(const Options& options) {
  if (!options.mpi.empty()) return answer_for_mpi(options.mpi, options.starts_mpi);
  const std::vector<Finding> findings = examine();
  options.json ? print_json(findings) : print(findings);
  for (const Finding& finding : findings) {
    if (finding.health == Health::broken)
      throw std::runtime_error(finding.subject + " is broken: " + finding.summary);
  }
}

void describe(Subcommand& command, Options& options) {
  command.flag("--json", options.json, "as JSON");
  command.word("--ask-mpi", options.mpi, "").hidden();  // as a separate process: see ask_mpi
  command.flag("--start-mpi", options.starts_mpi, "").hidden();
  command.footer("The exit code is 0 unless something essential is broken.\n\n" +
                 examples("partita doctor\npartita doctor --json"));
}

const Register registered("doctor", "report what works on this machine, and what to do about the rest",
                          describe, diagnose);

}  // namespace doctor_command

/// What the environment says of contexts and libraries.
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
