// Random whole numbers.
#pragma once

#include <cstdint>
#include <random>

namespace partita::testing {

using Random = std::mt19937_64;

inline std::int64_t uniform(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

}  // namespace partita::testing
