// Random copy nests for the tests of the host kernels, with their brute-force meaning.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/host/copy.hpp"
#include "support/models/uniform.hpp"

namespace partita::testing {

/// Calls visit(from, to): the byte offsets of every element.
inline void for_each_item(const kernels::StridedCopy& nest,
                          const std::function<void(std::int64_t, std::int64_t)>& visit, std::size_t depth = 0,
                          std::int64_t from = 0, std::int64_t to = 0) {
  if (depth == nest.loops.size()) return visit(nest.from_offset + from, nest.to_offset + to);
  const kernels::CopyLoop& loop = nest.loops[depth];
  for (std::int64_t i = 0; i < loop.count; ++i) {
    for_each_item(nest, visit, depth + 1, from + i * loop.from_stride, to + i * loop.to_stride);
  }
}

/// A nest and buffers that hold both of its sides, misaligned and with a margin around each.
struct Case {
  kernels::StridedCopy nest;
  std::int64_t from_bytes = 0;
  std::int64_t to_bytes = 0;
};

/// Strides under which no two elements of a side overlap: each loop, in a random order, steps over all that
/// the earlier ones cover, and a random gap.
inline std::vector<std::int64_t> disjoint_strides(Random& random, std::int64_t item_bytes,
                                                  const std::vector<std::int64_t>& counts,
                                                  const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> strides(counts.size());
  std::int64_t covered = item_bytes;
  for (const std::size_t loop : order) {
    const std::int64_t kind = uniform(random, 0, 5);
    const std::int64_t gap = kind < 3    ? 0
                             : kind == 3 ? uniform(random, 1, 7)
                                         : item_bytes * uniform(random, 1, 5);
    const std::int64_t stride = covered + gap;
    covered = stride * std::max<std::int64_t>(counts[loop], 1);
    strides[loop] = uniform(random, 0, 4) == 0 ? -stride : stride;
  }
  return strides;
}

// ExchangedPieces the side's origin so that its lowest address is `margin`; returns the bytes that it needs.
inline std::int64_t place(std::int64_t& offset, std::int64_t item_bytes,
                          const std::vector<std::int64_t>& counts, const std::vector<std::int64_t>& strides,
                          std::int64_t margin) {
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::int64_t reach = strides[i] * std::max<std::int64_t>(counts[i] - 1, 0);
    (reach < 0 ? low : high) += reach;
  }
  offset = margin - low;
  return offset + high + item_bytes + 64;
}

/// `counts` may hold zeros.
inline Case make_case(Random& random, std::int64_t item_bytes, const std::vector<std::int64_t>& counts) {
  std::vector<std::size_t> order(counts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  const auto to = disjoint_strides(random, item_bytes, counts, order);
  if (uniform(random, 0, 1) == 0) std::shuffle(order.begin(), order.end(), random);
  auto from = disjoint_strides(random, item_bytes, counts, order);
  if (!from.empty() && uniform(random, 0, 5) == 0) from.front() = 0;
  Case result;
  result.nest.item_bytes = item_bytes;
  for (std::size_t i = 0; i < counts.size(); ++i) result.nest.loops.push_back({counts[i], from[i], to[i]});
  result.from_bytes = place(result.nest.from_offset, item_bytes, counts, from, uniform(random, 0, 64));
  result.to_bytes = place(result.nest.to_offset, item_bytes, counts, to, uniform(random, 0, 64));
  return result;
}

/// 0 to `most_loops` loops, at most about `budget` elements; now and then a count of zero.
inline Case random_case(Random& random, std::int64_t item_bytes, std::int64_t most_loops,
                        std::int64_t budget) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(uniform(random, 0, most_loops)));
  const std::int64_t most = uniform(random, 2, 40);
  for (std::int64_t& count : counts) {
    count = uniform(random, 1, std::clamp<std::int64_t>(budget, 1, most));
    budget /= count;
  }
  std::shuffle(counts.begin(), counts.end(), random);
  if (!counts.empty() && uniform(random, 0, 20) == 0) counts.front() = 0;
  return make_case(random, item_bytes, counts);
}

inline std::vector<std::byte> random_bytes(Random& random, std::int64_t count) {
  std::vector<std::byte> result(static_cast<std::size_t>(count));
  for (std::byte& value : result) value = static_cast<std::byte>(random() & 0xff);
  return result;
}

}  // namespace partita::testing
