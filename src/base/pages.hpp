// Host memory in whole pages.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace partita {

inline constexpr std::int64_t page_bytes = 4096, huge_page_bytes = std::int64_t{2} << 20;

/// Gives back what `allocate_pages` gave.
struct FreePages {
  void operator()(char* memory) const noexcept;
};
using Pages = std::unique_ptr<char, FreePages>;

/// At least one page, of undefined contents, or of huge pages where the kernel gives them; null: there is no
/// memory.
Pages allocate_pages(std::int64_t bytes, bool huge = false);

/// Bytes that the calling thread has got from `allocate_pages` less those that it has given back, plus what
/// it noted by `note_allocated`. Differences tell what a piece of code has allocated.
std::int64_t bytes_allocated_by_thread() noexcept;
/// For memory that does not come from `allocate_pages`: of devices.
void note_allocated(std::int64_t bytes) noexcept;

}  // namespace partita
