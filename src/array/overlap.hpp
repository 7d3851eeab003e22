// Whether two views share memory, or elements of one.
#pragma once

#include <partita/view.hpp>

namespace partita::arrays {

/// Whether the memory between first and last elements meets. Views without elements or memory meet nothing.
bool spans_meet(const View& a, const View& b);

/// Whether an element of one shares a byte with one of the other: windows of one array that lie side by side
/// share nothing, though their memory interleaves. True, too, where strides that have nothing to do with each
/// other make that hard to find out.
bool overlap(const View& a, const View& b);

/// Whether elements of the view share memory with each other: a stride of 0, or windows that slide. What is
/// written of one is read of another, and which of them stays depends on the order. True, too, where that is
/// hard to find out, as above.
bool elements_meet(const View& view);

}  // namespace partita::arrays
