// Sizes of memory, in bytes.
#pragma once

#include <cstdint>

namespace partita {

inline constexpr std::int64_t kibibyte = 1024;
inline constexpr std::int64_t mebibyte = 1024 * kibibyte;
inline constexpr std::int64_t gibibyte = 1024 * mebibyte;
inline constexpr std::int64_t cache_line =
    64;  ///< what processors fetch at once, and what must not be shared by writers

}  // namespace partita
