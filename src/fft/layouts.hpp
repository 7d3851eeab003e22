// Questions that transforms ask of layouts, and the layouts that they work in.
#pragma once

#include <partita/layout.hpp>
#include <span>
#include <vector>

namespace partita::fourier {

/// Along which dimensions every rank that owns something owns all indices. Asks all ranks.
std::vector<bool> whole_axes(const Layout& layout);

/// Every element has one owner.
bool is_plain(const Layout& layout);

/// The ranks own a few long runs along each dimension, judged by the owner of the first element.
bool has_few_runs(const Layout& layout);

bool same(const Layout& a, const Layout& b);

/// The same rule for an array of another extent along `axis`: where a rank owned up to the end of the old
/// extent it owns up to the end of the new one. Throws ArgumentError where the rule does not fit.
Layout with_extent(const Layout& layout, int axis, std::int64_t extent);

/// Whether that leaves everything as it is but the extent: a rank that owned whole lines along `axis` owns
/// the whole new ones. (Blocks distributed cyclically may go to another rank.) Asks all ranks.
bool stretches(const Layout& layout, int axis, std::int64_t extent);

/// Contiguous parts of about equal length: axes[i] of the array is cut over grid[i] processes, row-major.
Layout grid_layout(const Shape& shape, std::span<const int> axes, std::span<const int> grid, int ranks);

/// Everything on rank 0.
Layout on_one_rank(const Shape& shape, int ranks);

}  // namespace partita::fourier
