// The walk over the loops of a nest, down to the innermost loop or the innermost pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>

#include "kernels/host/copy.hpp"

namespace partita::kernels {

/// Calls body(from, to) at the start of every iteration of `loops`: addresses, or offsets.
template <class Loop, class From, class To, class Body>
void walk(std::span<const Loop> loops, From from, To to, const Body& body) {
  if (loops.empty()) return body(from, to);
  const Loop& loop = loops.front();
  for (std::int64_t i = 0; i < loop.count; ++i) {
    walk(loops.subspan(1), from + i * loop.from_stride, to + i * loop.to_stride, body);
  }
}

/// Tiles of a pair of loops whose sides prefer opposite orders: each tile touches few enough lines and pages
/// that those of both sides stay in the nearest caches until they are used up.
struct PairTile {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
};

inline PairTile tile_of(std::int64_t item_bytes, const CopyLoop& outer, const CopyLoop& inner) {
  const bool opposite = std::abs(outer.from_stride) < std::abs(inner.from_stride) && item_bytes < 1024;
  if (!opposite) return {1, inner.count};
  return {std::max<std::int64_t>(1, 256 / item_bytes), std::max<std::int64_t>(16, 512 / item_bytes)};
}

/// Calls body(from, to, loop) for runs of the innermost loop that together cover the nest.
template <class Body>
void for_each_row(const StridedCopy& nest, const std::byte* from, std::byte* to, const Body& body) {
  const std::span<const CopyLoop> loops = nest.loops;
  if (loops.empty()) return body(from, to, CopyLoop{});
  const CopyLoop inner = loops.back();
  if (loops.size() == 1) return body(from, to, inner);
  const CopyLoop outer = loops[loops.size() - 2];
  const PairTile tile = tile_of(nest.item_bytes, outer, inner);
  walk(loops.first(loops.size() - 2), from, to, [&](const std::byte* from_pair, std::byte* to_pair) {
    for (std::int64_t i = 0; i < outer.count; i += tile.outer) {
      for (std::int64_t j = 0; j < inner.count; j += tile.inner) {
        const CopyLoop row{std::min(tile.inner, inner.count - j), inner.from_stride, inner.to_stride};
        for (std::int64_t k = i; k < std::min(i + tile.outer, outer.count); ++k) {
          body(from_pair + k * outer.from_stride + j * inner.from_stride,
               to_pair + k * outer.to_stride + j * inner.to_stride, row);
        }
      }
    }
  });
}

}  // namespace partita::kernels
