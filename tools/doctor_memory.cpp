// Memory, and what ranks of one machine share.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <partita/machine_report.hpp>

#include "tools/command_line.hpp"
#include "tools/doctor.hpp"
#include "tools/job.hpp"

namespace partita::tools {
namespace {

// "always within_size advise [never]": the word in brackets.
std::string chosen_in(const std::string& line) {
  if (line.empty()) return "unknown";
  const std::size_t first = line.find('['), last = line.find(']');
  return first == std::string::npos || last == std::string::npos ? line
                                                                 : line.substr(first + 1, last - first - 1);
}

std::string kernel_release() {
  utsname system{};
  return uname(&system) == 0 ? fmt::format("{} {}", system.sysname, system.release) : "unknown";
}

}  // namespace

Finding examine_memory() {
  const MemoryReport report = report_memory();
  const auto available = static_cast<double>(report.available);
  Finding finding{"memory", Health::ok,
                  fmt::format("{} may be used of {} (bound by {})", describe_bytes(available),
                              describe_bytes(static_cast<double>(report.total)), report.bound)};
  constexpr double little = 256e6;
  if (available < little)
    finding.warn("free some memory or raise the limit: beyond it a process is killed without a message");
  return finding;
}

Finding examine_shared_memory() {
  const MemoryReport report = report_memory();
  if (!report.memory_files)
    return {"shared memory", Health::broken, report.note,
            "the container forbids memfd_create or mmap; allow them (seccomp profile)"};
  Finding finding{"shared memory", Health::ok,
                  report.huge_pages ? "memory files in huge pages" : "memory files in small pages"};
  const std::string setting = chosen_in(first_line_of("/sys/kernel/mm/transparent_hugepage/shmem_enabled"));
  finding.details.push_back(
      report.huge_pages
          ? fmt::format("shmem_enabled is {}, which does not matter: MADV_COLLAPSE works", setting)
          : fmt::format("shmem_enabled is {}; {}", setting, report.note));
  if (!report.huge_pages) {
    finding.details.push_back(kernel_release());
    finding.warn(
        "as root: echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled, or Linux 6.1 or newer");
  }
  finding.details.push_back(
      report.no_cross_memory.empty()
          ? "ranks may read each other's ordinary memory through the kernel"
          : fmt::format("ordinary memory is copied through shared buffers: {}", report.no_cross_memory));
  struct statvfs status {};
  if (statvfs("/dev/shm", &status) == 0) {
    const double bytes = static_cast<double>(status.f_blocks) * static_cast<double>(status.f_frsize);
    finding.details.push_back(
        fmt::format("/dev/shm has {}: irrelevant, Partita keeps nothing there", describe_bytes(bytes)));
  }
  return finding;
}

}  // namespace partita::tools
