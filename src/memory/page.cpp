#include "memory/page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.hpp"

namespace partita::memory {
namespace {

// Newer than the C library's headers on some systems.
constexpr int advice_populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14
constexpr int advice_collapse = 25;        // MADV_COLLAPSE, Linux 6.1

bool advise(char* first, std::int64_t bytes, int advice) {
  int result = 0;
  do {
    result = madvise(first, static_cast<std::size_t>(bytes), advice);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

[[noreturn]] void refuse(std::int64_t bytes) {
  throw MemoryError(
      fmt::format("out of memory: the system refused {} bytes: {}", bytes, std::strerror(errno)));
}

void allocate_small_pages(int file, std::int64_t first, std::int64_t bytes) {
  while (fallocate(file, 0, first, bytes) != 0) {
    if (errno != EINTR) refuse(bytes);
  }
}

void touch(char* first, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += page_bytes) {
    volatile char* const page = first + at;
    *page = 0;
  }
}

}  // namespace

void populate_memory_file(int file, char* base, std::int64_t first, std::int64_t end) {
  const char zero = 0;
  for (std::int64_t at = first; at < end; at += huge_page_bytes) {
    while (pwrite(file, &zero, 1, at) != 1) {
      if (errno != EINTR) refuse(end - first);
    }
  }
  if (advise(base + first, end - first, advice_collapse)) return;
  allocate_small_pages(file, first, end - first);
  advise(base + first, end - first, advice_populate_write);  // else they are mapped at the first access
}

void populate_anonymous(char* first, std::int64_t bytes) {
  advise(first, bytes, MADV_HUGEPAGE);
  if (advise(first, bytes, advice_populate_write)) return;
  if (errno != EINVAL) refuse(bytes);
  touch(first, bytes);
}

}  // namespace partita::memory
