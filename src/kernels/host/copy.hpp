// Strided copies and accumulations: all copies of Partita on a host.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>
#include <vector>

namespace partita::kernels {

/// One loop of a nest: `count` iterations, each advancing the two sides by so many bytes.
struct CopyLoop {
  std::int64_t count = 1;
  std::int64_t from_stride = 0;
  std::int64_t to_stride = 0;
};

/// A nest of loops around one element: the element (i, j, ...) moves from `from + offset + sum(i *
/// from_stride)` to `to + offset + sum(i * to_stride)`. Up to 2 * max_dimensions loops (interval and period
/// of each dimension).
struct StridedCopy {
  std::int64_t item_bytes = 0;  ///< 1, 2, 4, 8 or 16; after `simplify` the length of the contiguous run
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
  std::vector<CopyLoop> loops;  ///< outermost first; after `simplify` ordered for the kernel
};

/// Where the written bytes are read next: `cache` keeps them (staging), `memory` streams past it (a large
/// result).
enum class StoreHint : std::uint8_t { cache, memory };

/// For a result of so many bytes: beyond 4 MiB it will not stay in cache, so its stores go past it.
constexpr StoreHint hint_for(std::int64_t bytes) {
  return bytes > (std::int64_t{4} << 20) ? StoreHint::memory : StoreHint::cache;
}

/// Drops loops of one iteration, merges loops that are contiguous on both sides, folds the innermost
/// contiguous loop into `item_bytes`, and orders the rest for the memory system. A nest with a zero count
/// becomes empty (item_bytes == 0). Pure; done once, when a plan is bound.
StridedCopy simplify(StridedCopy nest);

/// Bytes that the nest moves.
std::int64_t bytes(const StridedCopy& nest);

/// Performs the copy. `nest` must be simplified. The two sides must not overlap, unless they are
/// the same elements: then nothing is touched. Thread-safe.
void copy(const StridedCopy& nest, const void* from, void* to, StoreHint hint);

/// to[...] = reduce(to[...], from[...]) for every element; same nest convention, `nest.item_bytes` a multiple
/// of the dtype's size. Half precisions accumulate in f32, and each result is
/// rounded to nearest even. Integers wrap around; the sum of booleans is "or"; min and max of a NaN and
/// anything are NaN. Throws ArgumentError where the reduction is not defined for the dtype. Thread-safe.
void accumulate(const StridedCopy& nest, Dtype dtype, Reduction reduction, const void* from, void* to);

}  // namespace partita::kernels
