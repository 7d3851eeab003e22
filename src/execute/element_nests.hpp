// Regions of several parts as nests of loops over their elements, for kernels that take an element at a time.
#pragma once

#include <vector>

#include "device/device_math.hpp"
#include "execute/axis_runs.hpp"

namespace partita::execution {

/// All elements of parts of the same extents, in as few evenly strided nests as possible; `axes` by dimension
/// and part (at most ElementNest::parts). The innermost loop has the smallest stride in part `leader`. Throws
/// UnsupportedError: more dimensions than a nest has loops.
std::vector<devices::ElementNest> element_nests(const std::vector<std::vector<PartAxis>>& axes,
                                                const Extents& extents, std::size_t leader);

}  // namespace partita::execution
