// Whether two views share memory.
#pragma once

#include <partita/view.hpp>

namespace partita::arrays {

/// Whether the memory between first and last elements meets. Views without elements or memory meet nothing.
bool spans_meet(const View& a, const View& b);

/// Exact for views of one array with two dimensions at most (equal strides, the smaller one 1): parts of its
/// rows and columns that lie side by side share nothing, though their memory interleaves. Otherwise as
/// `spans_meet`.
bool overlap(const View& a, const View& b);

}  // namespace partita::arrays
