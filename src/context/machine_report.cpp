#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <partita/error.hpp>
#include <partita/machine_report.hpp>
#include <vector>

#include "base/environment_variable.hpp"
#include "base/file_descriptor.hpp"
#include "kernels/host/blas_library.hpp"
#include "kernels/host/fftw_library.hpp"
#include "memory/cross_memory.hpp"
#include "memory/node_limits.hpp"
#include "memory/page.hpp"
#include "memory/reservation.hpp"
#include "runtime/groups/mpi_choice.hpp"
#include "runtime/groups/sockets_group.hpp"

namespace partita {
namespace {

// C = A B; the best of some runs, because the first ones wake the processor up.
double measure_flops(const kernels::BlasLibrary& library) {
  constexpr int n = 1024;
  const double one = 1, zero = 0;
  const std::vector<double> a(std::size_t{n} * n, 1.0), b(std::size_t{n} * n, 0.5);
  std::vector<double> c(std::size_t{n} * n);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 4; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    library.dgemm("N", "N", &n, &n, &n, &one, a.data(), &n, b.data(), &n, &zero, c.data(), &n);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    best = std::min(best, taken.count());
  }
  return 2.0 * n * n * n / best;
}

// Whether the kernel maps the address with huge pages: what smaps says, not what madvise promised.
bool has_huge_pages(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &end) == 2) {
      const auto at = reinterpret_cast<std::uintptr_t>(address);
      inside = first <= at && at < end;
    }
    unsigned long kilobytes = 0;
    if (inside && (std::sscanf(line.c_str(), "ShmemPmdMapped: %lu", &kilobytes) == 1 ||
                   std::sscanf(line.c_str(), "FilePmdMapped: %lu", &kilobytes) == 1)) {
      if (kilobytes > 0) return true;
    }
  }
  return false;
}

// A memory file, mapped at a multiple of 2 MiB as the heap maps it.
void try_memory_file(MemoryReport& report) {
  constexpr std::int64_t bytes = 2 * huge_page_bytes;
  try {
    const memory::Reservation range(bytes);
    const FileDescriptor file(memfd_create("partita-report", MFD_CLOEXEC));
    report.memory_files = file && ftruncate(file.get(), bytes) == 0 &&
                          mmap(range.data(), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                               file.get(), 0) != MAP_FAILED;
    if (!report.memory_files) {
      report.note = std::string("memory files do not work: ") + std::strerror(errno);
      return;
    }
    memory::populate_memory_file(file.get(), range.data(), 0, bytes);
    *static_cast<volatile char*>(range.data()) = 1;
    report.huge_pages = has_huge_pages(range.data());
  } catch (const MemoryError& error) {
    report.note = error.what();
  }
  if (!report.huge_pages && report.note.empty()) {
    report.note = "the kernel gives shared memory small pages only (MADV_COLLAPSE needs Linux 6.1)";
  }
}

}  // namespace

BlasReport report_blas(bool measure) {
  BlasReport report;
  try {
    const kernels::BlasLibrary& library = kernels::blas();
    report = {true,
              library.path(),
              library.configuration(),
              library.core_type(),
              library.chosen_core_type(),
              library.note(),
              1,
              0.0};
    if (!measure) return report;
    const int before = library.threads();
    library.set_threads(1);
    report.flops_per_second = measure_flops(library);
    library.set_threads(before);
  } catch (const UnsupportedError& error) {
    report.note = error.what();
  }
  return report;
}

FftReport report_fft(bool single_precision) {
  FftReport report;
  try {
    const kernels::FftwLibrary& library =
        kernels::fftw(single_precision ? kernels::FftwPrecision::f32 : kernels::FftwPrecision::f64);
    report = {true, library.path(), library.version(), ""};
  } catch (const UnsupportedError& error) {
    report.note = error.what();
  }
  return report;
}

MemoryReport report_memory() {
  const memory::NodeLimits limits = memory::NodeLimits::read();
  MemoryReport report;
  report.total = limits.total;
  report.available = limits.available;
  report.bound = limits.bound;
  try_memory_file(report);
  report.no_cross_memory = memory::why_no_cross_memory();
  return report;
}

bool is_launched_rank() {
  return runtime::has_sockets() || runtime::launcher_of(environment_variable).has_value();
}

}  // namespace partita
