// Sorted runs of integers, merged.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <span>

namespace partita::kernels {

/// Merges consecutive sorted runs of a real dtype or booleans into `to`, which does not overlap. NaNs are the
/// largest numbers.
void merge_runs(Dtype dtype, const void* values, std::span<const std::int64_t> counts, void* to);

}  // namespace partita::kernels
