// The places of the largest and smallest elements along an axis.
//
// Of several the first one, and of NaNs the first: as `argmax(array)`. The results are arrays of i64, laid
// out as those of reductions over an axis (<partita/array_reductions.hpp>). Collective, blocking.
// ArgumentError, the same on every rank: an axis that does not exist or has no elements, a partial array,
// complex numbers, FP8.
#pragma once

#include <partita/array_reductions.hpp>
#include <partita/functions.hpp>

namespace partita {

/// The indices of the largest elements along an axis. If ranks divide the axis, the indices of all elements
/// are compared, which takes memory for one i64 each; redistribute the array to whole lines where that is too
/// much.
PARTITA_API Array argmax(const Array& array, int axis, const ReduceAxesOptions& options = {},
                         SourcePlace where = SourcePlace::current());
/// The same for the smallest elements.
PARTITA_API Array argmin(const Array& array, int axis, const ReduceAxesOptions& options = {},
                         SourcePlace where = SourcePlace::current());

}  // namespace partita
