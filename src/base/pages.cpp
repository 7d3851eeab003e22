#include "base/pages.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "base/round.hpp"

namespace partita {

Pages allocate_pages(std::int64_t bytes, bool huge) {
  const std::int64_t page = huge ? huge_page_bytes : page_bytes;
  const auto size = static_cast<std::size_t>(round_up(std::max<std::int64_t>(bytes, 1), page));
  Pages pages(static_cast<char*>(std::aligned_alloc(static_cast<std::size_t>(page), size)));
  // A wish: where it is refused the pages are small.
  if (huge && pages) ::madvise(pages.get(), size, MADV_HUGEPAGE);
  return pages;
}

}  // namespace partita
