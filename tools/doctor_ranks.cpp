// MPI, its launcher, and the cores.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <partita/context.hpp>
#include <partita/mpi_report.hpp>
#include <set>
#include <system_error>

#include "tools/doctor.hpp"
#include "tools/job.hpp"

namespace partita::tools {
namespace {

std::string processor_name() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "an unknown processor";
}

/// The entries NAME0, NAME1, ... of a folder of the kernel's.
std::vector<std::filesystem::path> numbered(const std::filesystem::path& folder, const std::string& name) {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename();
    if (file.size() > name.size() && file.starts_with(name) &&
        file.find_first_not_of("0123456789", name.size()) == std::string::npos)
      found.push_back(entry.path());
  }
  return found;
}

/// Cores and NUMA nodes as the kernel describes them; where it does not, each hardware thread is a core.
std::string topology() {
  std::set<std::string> cores;
  for (const auto& thread : numbered("/sys/devices/system/cpu", "cpu")) {
    const std::string siblings = first_line_of(thread / "topology/thread_siblings_list");
    if (!siblings.empty()) cores.insert(siblings);
  }
  const auto threads = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const std::size_t nodes = numbered("/sys/devices/system/node", "node").size();
  return fmt::format("{} cores, {} hardware threads, {} NUMA nodes seen",
                     cores.empty() ? threads : cores.size(), threads, std::max<std::size_t>(1, nodes));
}

// Processor time over time that the control group allows: cores; 0: no limit. Versions 2 and 1 of control
// groups.
double processor_quota() {
  std::ifstream unified("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (unified >> quota >> period && quota != "max" && period > 0) return std::stod(quota) / period;
  std::ifstream old_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
      old_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double microseconds = 0;
  if (old_quota >> microseconds && old_period >> period && microseconds > 0 && period > 0)
    return microseconds / period;
  return 0;
}

// "4.1.4" of "mpirun (Open MPI) 4.1.4": the first number with a dot; empty: none.
std::string version_in(const std::string& text) {
  constexpr const char* digits = "0123456789";
  for (std::size_t at = text.find_first_of(digits); at < text.size(); at = text.find_first_of(digits, at)) {
    const std::size_t end = std::min(text.size(), text.find_first_not_of("0123456789.", at));
    std::string number = text.substr(at, end - at);
    if (number.find('.') != std::string::npos) return number;
    at = end;
  }
  return "";
}

}  // namespace

std::vector<std::string> libraries_for(const std::string& module) {
  if (const char* const named = std::getenv("PARTITA_MPI_LIBRARY"); named != nullptr && *named != '\0')
    return {named};
  for (const MpiReport::Module& candidate : report_mpi().modules) {
    if (candidate.name == module) return candidate.libraries;
  }
  return {};
}

Finding examine_mpi() {
  const MpiReport report = report_mpi();
  if (report.modules.empty())
    return {"MPI", Health::missing, "this Partita has no module for any MPI: ranks run on this machine only",
            "for ranks on several machines, build it with Open MPI's or MPICH's mpicxx installed"};
  Finding finding{"MPI", Health::ok, mpi_description()};
  int can_be_opened = 0;
  for (const MpiReport::Module& module : report.modules) {
    const MpiAnswer answer = ask_mpi(libraries_for(module.name));
    const std::string found = fmt::format("{} ({})", answer.version, answer.library);
    const std::string& what = answer.version.empty() ? answer.problem : found;
    finding.details.push_back(fmt::format("for ranks of {}: {}", module.name, what));
    can_be_opened += answer.version.empty() ? 0 : 1;
  }
  if (can_be_opened == 0)
    finding.warn("install Open MPI or MPICH, or set LD_LIBRARY_PATH or PARTITA_MPI_LIBRARY to find one");
  return finding;
}

Finding examine_launcher() {
  if (!has_mpi()) return {"launcher", Health::ok, "its own: processes on this machine"};
  const Launcher launcher = find_launcher();
  if (launcher.kind == LauncherKind::own)
    return {"launcher", Health::warning, launcher.problem,
            "until then, ranks run on this machine only, without MPI"};
  Finding finding{"launcher", Health::ok, fmt::format("{} ({})", launcher.path, launcher.version)};
  const std::string ours = version_in(ask_mpi(libraries_for(launcher.module)).version),
                    its = version_in(launcher.version);
  if (!ours.empty() && !its.empty() && ours != its) {
    finding.details.push_back(fmt::format("the library is {}, the launcher {}", ours, its));
    finding.warn("use the launcher of the library's release, or set LD_LIBRARY_PATH to that of the launcher");
  }
  const std::string other = find_in_path("mpirun");
  if (!other.empty() && find_launcher(other).kind != launcher.kind) {
    finding.details.push_back(fmt::format("note: mpirun in the PATH ({}) belongs to another MPI", other));
  }
  const std::string survivors = launcher.kind == LauncherKind::other ? "unknown" : "yes";
  finding.details.push_back(fmt::format("survivors outlive a dead rank: {}", survivors));
  finding.details.emplace_back("without it: partita run --threads starts ranks on this machine");
  return finding;
}

Finding examine_cores() {
  const int usable = usable_cores();
  Finding finding{
      "cores", Health::ok, fmt::format("{} usable: {}", usable, processor_name()), "", {topology()}};
  const double quota = processor_quota();
  if (quota > 0) {
    finding.details.push_back(fmt::format("the control group allows the time of {:.3g} cores", quota));
    if (std::ceil(quota) < usable)
      finding.warn(fmt::format("start at most {:.0f} ranks, or raise the limit: more are throttled",
                               std::max(1.0, std::floor(quota))));
  }
  return finding;
}

}  // namespace partita::tools
