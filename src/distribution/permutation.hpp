// Permuted dimensions: dimension i of the result is dimension axes[i] of the source.
#pragma once

#include <partita/extents.hpp>
#include <span>

namespace partita::distribution {

/// Throws ArgumentError unless `axes` holds each of 0 .. dimensions - 1 once.
void refuse_no_permutation(std::span<const int> axes, int dimensions);
Extents permuted(const Extents& extents, std::span<const int> axes);

}  // namespace partita::distribution
