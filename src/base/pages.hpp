// Host memory in whole pages.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace partita {

inline constexpr std::int64_t page_bytes = 4096, huge_page_bytes = std::int64_t{2} << 20;

struct FreePages {
  void operator()(char* memory) const { std::free(memory); }
};
using Pages = std::unique_ptr<char, FreePages>;

/// At least one page, of undefined contents, or of huge pages where the kernel gives them; null: there is no
/// memory. std::free gives it back.
Pages allocate_pages(std::int64_t bytes, bool huge = false);

}  // namespace partita
