// Parts of long lines, which threads load some accesses at a time.
#pragma once

#include <cstdint>

namespace partita::kernels::cuda {

/// A part's elements: if they are many rounds, some more, so that these are whole.
inline std::int64_t in_rounds(std::int64_t part, std::int64_t round) {
  return part < 8 * round ? part : (part + round - 1) / round * round;
}

}  // namespace partita::kernels::cuda
