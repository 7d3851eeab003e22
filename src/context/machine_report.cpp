#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <partita/error.hpp>
#include <partita/machine_report.hpp>
#include <vector>

#include "kernels/host/blas_library.hpp"
#include "kernels/host/fftw_library.hpp"
#include "memory/huge_pages.hpp"
#include "memory/node_limits.hpp"
#include "memory/page.hpp"
#include "runtime/launcher.hpp"

namespace partita {
namespace {

// C = A B; the best of some runs, because the first ones wake the processor up.
double measure_flops(const BlasLibrary& library) {
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
class TrialFile {
 public:
  TrialFile() : file_(memfd_create("partita-report", MFD_CLOEXEC)) {
    constexpr std::size_t reserved = bytes + huge_page_bytes;
    if (file_ < 0 || ftruncate(file_, bytes) != 0) return;
    void* const place = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return;
    reserved_ = place;
    const auto at = reinterpret_cast<std::uintptr_t>(place);
    const std::uintptr_t aligned = (at + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
    char* const wanted = static_cast<char*>(place) + (aligned - at);
    void* const mapped = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, 0);
    if (mapped != MAP_FAILED) base_ = static_cast<char*>(mapped);
  }
  ~TrialFile() {
    if (reserved_ != nullptr) munmap(reserved_, bytes + huge_page_bytes);
    if (file_ >= 0) close(file_);
  }
  TrialFile(const TrialFile&) = delete;
  TrialFile& operator=(const TrialFile&) = delete;

  bool mapped() const { return base_ != nullptr; }
  bool gets_huge_pages() {
    populate_memory_file(file_, base_, 0, bytes);
    volatile char* const first = base_;
    *first = 1;
    return has_huge_pages(base_);
  }

 private:
  static constexpr std::int64_t bytes = 2 * huge_page_bytes;
  int file_;
  void* reserved_ = nullptr;
  char* base_ = nullptr;
};

void try_memory_file(MemoryReport& report) {
  TrialFile trial;
  report.memory_files = trial.mapped();
  if (!report.memory_files) {
    report.note = std::string("memory files do not work: ") + std::strerror(errno);
    return;
  }
  try {
    report.huge_pages = trial.gets_huge_pages();
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
    const BlasLibrary& library = blas();
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
    const FftwLibrary& library = fftw(single_precision ? FftwPrecision::f32 : FftwPrecision::f64);
    report = {true, library.path(), library.version(), ""};
  } catch (const UnsupportedError& error) {
    report.note = error.what();
  }
  return report;
}

MemoryReport report_memory() {
  const NodeLimits limits = NodeLimits::read();
  MemoryReport report;
  report.total = limits.total;
  report.available = limits.available;
  report.bound = limits.bound;
  try_memory_file(report);
  return report;
}

bool is_launched_rank() {
  return started_by_launcher();
}

}  // namespace partita
