// partita doctor: what works on this machine, what does not, and what to do about it.
#include "tools/doctor.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <partita/version.hpp>

#include "tools/mpi_device_memory.hpp"
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
  return {examine_mpi(),  examine_launcher(), examine_cores(),   examine_memory(), examine_shared_memory(),
          examine_blas(), examine_fft(),      examine_cuda(),    examine_links(),  examine_device_messages(),
          examine_nccl(), examine_nvshmem(),  examine_settings()};
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

void diagnose(bool json) {
  const std::vector<Finding> findings = examine();
  if (json) {
    print_json(findings);
  } else {
    print(findings);
  }
  const auto broken = std::find_if(findings.begin(), findings.end(),
                                   [](const Finding& finding) { return finding.health == Health::broken; });
  if (broken != findings.end()) throw std::runtime_error(broken->subject + " is broken: " + broken->summary);
}

/// See examine_device_messages.
void print_answer_of_mpi() {
  const std::string why_not = ask_mpi_for_device_memory();
  fmt::print("{}\n", why_not.empty() ? "yes" : why_not);
}

void add_doctor(CLI::App& app) {
  auto* const command =
      app.add_subcommand("doctor", "what works on this machine, and what to do about the rest");
  const auto json = std::make_shared<bool>(false), asks_mpi = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "as JSON");
  command->footer("Ends with 0 unless something essential is broken.\n\n" +
                  examples("partita doctor\npartita doctor --json"));
  command->add_flag("--ask-mpi", *asks_mpi, "")->group("");  // as a process of its own
  command->callback([json, asks_mpi] { *asks_mpi ? print_answer_of_mpi() : diagnose(*json); });
}

const Register registered("doctor", add_doctor);

}  // namespace doctor_command
}  // namespace partita::tools
