// The indices of a stretch of what a rank holds.
#pragma once

#include <partita/layout.hpp>
#include <vector>

namespace partita::distribution {

/// Of `count` elements along the axis, from that position on; takes time in proportion to these, however many
/// the rank holds.
std::vector<std::int64_t> local_indices(const Region& held, int axis, std::int64_t first, std::int64_t count);

}  // namespace partita::distribution
