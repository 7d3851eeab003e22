// What the sources and destinations of collectives are as distributed arrays.
#pragma once

#include <partita/layout.hpp>
#include <span>

namespace partita::collective {

/// Every rank holds a contribution to the whole.
Layout contributions(const Shape& shape, Reduction reduction, int ranks);

/// Every rank holds the whole.
Layout everywhere(const Shape& shape, int ranks);

/// The root holds the whole, the others nothing.
Layout at_root(const Shape& shape, int root, int ranks);

/// Every rank but the root holds the whole. At least two ranks.
Layout beside_root(const Shape& shape, int root, int ranks);

/// Rank r holds counts[r] indices along dimension 0, one part after the other; no counts: equal parts. Throws
/// ArgumentError where the counts do not suit ranks and shape.
Layout parts(const Shape& shape, std::span<const std::int64_t> counts, int ranks);

/// About equal slices along the longest dimension: the parts that each rank reduces in between.
Layout slices(const Shape& shape, int ranks);

/// Dimension 0 numbers the ranks and `shape` is what each of them has: rank r holds [r, ...].
Layout by_rank(const Shape& shape, int ranks);

/// The extents with `first` before them. Throws ArgumentError beyond the dimensions that there are.
Shape with_first(std::int64_t first, const Shape& shape);

/// The dimension of the largest extent.
int longest(const Shape& shape);

}  // namespace partita::collective
