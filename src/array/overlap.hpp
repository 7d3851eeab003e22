// Whether two views share memory, or elements of one.
#pragma once

#include <partita/view.hpp>

namespace partita::arrays {

/// Whether the memory between first and last elements meets. Views without elements or memory meet nothing.
bool spans_meet(const View& a, const View& b);

/// Whether an element of one view shares a byte with an element of the other. Windows of one array that are
/// side by side do not, although their memory interleaves. Also true if unrelated strides make the answer too
/// expensive.
bool overlap(const View& a, const View& b);

/// Whether elements of the view share memory with each other: a stride of 0, or windows that slide. What is
/// written of one is read of another, and which of them stays depends on the order. True, too, where that is
/// hard to find out, as above.
bool elements_meet(const View& view);

}  // namespace partita::arrays
