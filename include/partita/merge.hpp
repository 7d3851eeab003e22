// Merging of sorted runs, on one rank.
#pragma once

#include <cstdint>
#include <partita/view.hpp>
#include <span>

namespace partita {

/// Sorts a view that consists of consecutive sorted runs, such as the parts that `all_to_all_v` delivers of
/// sorted arrays, by merging them in pairs: as many passes as the logarithm of the number of runs to base 2.
/// `counts`: elements of each run, in order; some may be 0. The view has one dimension, is dense, and is in
/// host memory. Real dtypes and booleans; NaNs are the largest numbers, and their signs are not kept. Numbers
/// of 32 and 64 bits are merged by vectors (AVX-512, AVX2). The elements are of no order if the runs are not
/// sorted. Allocates as much memory as the view has. Local; blocks. Throws ArgumentError (another kind of
/// view or dtype, counts that do not add up to its extent), MemoryError.
PARTITA_API void merge_runs(const View& values, std::span<const std::int64_t> counts);

}  // namespace partita
