// Sizes of pages.
#pragma once

#include "base/round.hpp"

namespace partita {

inline constexpr std::int64_t page_bytes = 4096;
inline constexpr std::int64_t huge_page_bytes = std::int64_t{2} << 20;

}  // namespace partita
