// Merging of sorted runs, on one rank.
#pragma once

#include <cstdint>
#include <partita/view.hpp>
#include <span>

namespace partita {

/// Merges consecutive sorted runs, such as the parts that `all_to_all_v` delivers of sorted arrays, into a
/// view of the same extent and dtype, which does not overlap them. `counts`: elements of each run, in order;
/// some may be 0. The views have one dimension, are dense, and are in host memory. Real dtypes and booleans;
/// NaNs are the largest numbers, and their signs are not kept. Numbers of 32 and 64 bits are merged by
/// vectors (AVX-512, AVX2), and memory is read and written once. The elements are of no order if the runs are
/// not sorted. Local; blocks. Throws ArgumentError (other kinds of views or dtypes, counts that do not add up
/// to the extent), MemoryError.
PARTITA_API void merge_runs(const View& values, std::span<const std::int64_t> counts,
                            const View& destination);
/// The same in place. Allocates as much memory as the view has.
PARTITA_API void merge_runs(const View& values, std::span<const std::int64_t> counts);

}  // namespace partita
