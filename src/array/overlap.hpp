// Whether two views share memory.
#pragma once

#include <partita/view.hpp>

namespace partita::arrays {

/// Whether the memory between first and last elements meets. Views without elements or memory meet nothing.
bool spans_meet(const View& a, const View& b);

/// Whether an element of one shares a byte with one of the other: windows of one array that lie side by side
/// share nothing, though their memory interleaves. True, too, where strides that have nothing to do with each
/// other make that hard to find out.
bool overlap(const View& a, const View& b);

}  // namespace partita::arrays
