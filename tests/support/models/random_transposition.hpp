// Random copies whose elements have opposite orders on the two sides.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/models/random_nest.hpp"

namespace partita::testing {

/// Strides of elements at multiples of their size, those of loop `first` adjacent; the others in
/// a random order, with a gap now and then. `bytes`: what they cover.
inline std::vector<std::int64_t> strides_from(Random& random, std::int64_t item,
                                              const std::vector<std::int64_t>& counts, std::size_t first,
                                              std::int64_t& bytes) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[first]);
  std::shuffle(order.begin() + 1, order.end(), random);
  std::vector<std::int64_t> strides(counts.size());
  bytes = item;
  for (const std::size_t loop : order) {
    const bool apart = loop != first && uniform(random, 0, 2) == 0;
    strides[loop] = bytes + (apart ? item * uniform(random, 1, 5) : 0);
    bytes = strides[loop] * counts[loop];
  }
  return strides;
}

/// Of matrices of 16 to 150 elements along either side and up to three loops over matrices. Not simplified.
inline Case random_transposition(Random& random, std::int64_t item) {
  std::vector<std::int64_t> counts{uniform(random, 16, 150), uniform(random, 16, 150)};
  for (std::int64_t outer = uniform(random, 0, 3); outer > 0; --outer)
    counts.push_back(uniform(random, 1, 4));
  Case result;
  result.nest = {item, item * uniform(random, 0, 9), item * uniform(random, 0, 9), {}};
  const auto from = strides_from(random, item, counts, 0, result.from_bytes);
  const auto to = strides_from(random, item, counts, 1, result.to_bytes);
  for (std::size_t i = 0; i < counts.size(); ++i) result.nest.loops.push_back({counts[i], from[i], to[i]});
  result.from_bytes += result.nest.from_offset + 64;
  result.to_bytes += result.nest.to_offset + 64;
  return result;
}

}  // namespace partita::testing
