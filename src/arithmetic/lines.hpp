// Lines along an axis, and how ranks divide them.
#pragma once

#include <cstdint>
#include <optional>
#include <partita/layout.hpp>
#include <partita/view.hpp>
#include <vector>

namespace partita::arithmetic {

/// Where elements of ranks begin and end in a sequence: one more than there are ranks.
using SequenceCuts = std::vector<std::int64_t>;

/// Where the blocks of the ranks begin and end if the ranks have, in their order, blocks of this axis alone;
/// else nothing.
std::optional<SequenceCuts> blocks_along(const Layout& layout, int axis);

/// Parts of these sizes one after the other.
SequenceCuts cuts_of(const std::vector<std::int64_t>& sizes);

/// The sizes of these parts.
std::vector<std::int64_t> sizes_of(const SequenceCuts& cuts);

/// The axis becomes the last dimension of the view; the others keep their order.
View with_axis_last(View view, int axis);

}  // namespace partita::arithmetic
