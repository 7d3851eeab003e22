// Sorted runs of integers, merged.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <span>

namespace partita::kernels {

/// Sorts consecutive sorted runs of a real dtype or booleans. NaNs are the largest numbers.
void merge_runs(Dtype dtype, void* values, std::span<const std::int64_t> counts);

}  // namespace partita::kernels
