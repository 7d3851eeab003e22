#include "base/pages.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/round.hpp"

namespace partita {
namespace {

thread_local std::int64_t allocated = 0;

std::int64_t usable_bytes(char* memory) {
  return static_cast<std::int64_t>(::malloc_usable_size(memory));
}

}  // namespace

std::int64_t bytes_allocated_by_thread() noexcept {
  return allocated;
}

void note_allocated(std::int64_t bytes) noexcept {
  allocated += bytes;
}

void FreePages::operator()(char* memory) const noexcept {
  if (memory != nullptr) note_allocated(-usable_bytes(memory));
  std::free(memory);
}

Pages allocate_pages(std::int64_t bytes, bool huge) {
  const std::int64_t page = huge ? huge_page_bytes : page_bytes;
  const auto size = static_cast<std::size_t>(round_up(std::max<std::int64_t>(bytes, 1), page));
  Pages pages(static_cast<char*>(std::aligned_alloc(static_cast<std::size_t>(page), size)));
  if (pages) note_allocated(usable_bytes(pages.get()));
  // A wish: where it is refused the pages are small.
  if (huge && pages) ::madvise(pages.get(), size, MADV_HUGEPAGE);
  return pages;
}

}  // namespace partita
