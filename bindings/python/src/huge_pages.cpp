#include "huge_pages.hpp"

#include <sys/mman.h>

namespace partita::python {

namespace {

constexpr std::uintptr_t huge_page = std::uintptr_t{2} << 20;

}  // namespace

void advise_huge_pages(void* data, std::int64_t bytes) noexcept {
  if (bytes < static_cast<std::int64_t>(2 * huge_page)) return;
  const auto first = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t begin = (first + huge_page - 1) / huge_page * huge_page;
  const std::uintptr_t end = (first + static_cast<std::uintptr_t>(bytes)) / huge_page * huge_page;
  // Where the kernel does not want to, pages are small.
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace partita::python
