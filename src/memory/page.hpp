// Sizes of pages, and rounding to them.
#pragma once

#include <cstdint>

namespace partita {

inline constexpr std::int64_t page_bytes = 4096;
inline constexpr std::int64_t huge_page_bytes = std::int64_t{2} << 20;

constexpr std::int64_t round_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}
constexpr std::int64_t round_down(std::int64_t bytes, std::int64_t unit) {
  return bytes / unit * unit;
}

}  // namespace partita
