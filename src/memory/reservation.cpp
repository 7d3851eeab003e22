#include "memory/reservation.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "base/check.hpp"
#include "base/units.hpp"
#include "memory/page.hpp"

namespace partita::memory {
namespace {

constexpr std::int64_t smallest_stride = std::int64_t{64} << 20;

/// Half of what a process can address: 2^47 bytes by four levels of page tables; ThreadSanitizer leaves 2^41
/// to mmap.
#ifdef __SANITIZE_THREAD__
constexpr std::int64_t addresses = std::int64_t{1} << 40;
#else
constexpr std::int64_t addresses = std::int64_t{1} << 46;
#endif

/// How many addresses a reservation may take.
std::int64_t address_budget() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<std::int64_t>::max();
  }
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return std::max<std::int64_t>(0, (static_cast<std::int64_t>(limit.rlim_cur) - pages * page_bytes) / 2);
}

}  // namespace

/// Null when the process cannot have them.
char* Reservation::reserve(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  const auto slack = static_cast<std::size_t>(huge_page_bytes);
  void* range = mmap(nullptr, size + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return nullptr;
  // Cut the ends off so that it begins at a multiple of a huge page.
  char* const first = static_cast<char*>(range);
  const std::size_t before = (slack - reinterpret_cast<std::uintptr_t>(first) % slack) % slack;
  if (before > 0) munmap(first, before);
  if (slack > before) munmap(first + before + size, slack - before);
  return first + before;
}

Reservation::Reservation(std::int64_t bytes) : data_(reserve(bytes)), bytes_(bytes) {
  check<MemoryError>(data_ != nullptr, "cannot reserve an address range of {} bytes: {} (see ulimit -v)",
                     bytes, std::strerror(errno));
}

Reservation::~Reservation() {
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
}

Reservation::Reservation(Reservation&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::pair<Reservation, std::int64_t> Reservation::segments(int parts, std::int64_t stride) {
  const std::int64_t budget = address_budget();
  for (std::int64_t tried = stride; tried >= smallest_stride;
       tried = round_down(tried / 2, huge_page_bytes)) {
    if (tried > (budget - huge_page_bytes) / parts) continue;
    Reservation result;
    result.data_ = reserve(tried * parts);
    if (result.data_ == nullptr) continue;
    result.bytes_ = tried * parts;
    return {std::move(result), tried};
  }
  throw MemoryError(
      fmt::format("cannot reserve {} address ranges of {} bytes for the symmetric heap: the process may have "
                  "only {} more bytes of address space for it (raise `ulimit -v`)",
                  parts, smallest_stride, budget));
}

void Reservation::trim(std::int64_t bytes) {
  invariant(bytes <= bytes_ && bytes % huge_page_bytes == 0, "trimming {} bytes to {}", bytes_, bytes);
  if (bytes < bytes_) munmap(data_ + bytes, static_cast<std::size_t>(bytes_ - bytes));
  bytes_ = bytes;
}

void release_addresses(char* first, std::int64_t bytes) noexcept {
  if (bytes > 0) munmap(first, static_cast<std::size_t>(bytes));
}

std::int64_t preferred_stride(std::int64_t node_memory_bytes, int node_ranks, int nodes) {
  const std::int64_t share = round_down(addresses / nodes / node_ranks, huge_page_bytes);
  const std::int64_t wanted = std::max(gibibyte, round_up(2 * node_memory_bytes / node_ranks, gibibyte));
  return std::max(smallest_stride, std::min(wanted, share));
}

}  // namespace partita::memory
