// Sums and products of the elements up to each one along an axis.
//
// The result has the layout of the array, on the symmetric heap, in its memory space. If ranks divide the
// axis, each combines its own elements, and what the ranks before it have is added afterwards, so that
// numbers are rounded otherwise than one after the other; an axis that is not in blocks, in the order of
// ranks, is redistributed to `Slab(axis)` and back. On devices by the library's scan, of other axes than the
// last one in a transposed copy. Collective, blocking. ArgumentError, the same on every rank: an axis that
// does not exist, a partial array, FP8.
#pragma once

#include <partita/array.hpp>
#include <partita/reduction.hpp>
#include <partita/source_place.hpp>

namespace partita {

/// Of the dtype of the array, or of `dtype`, to which elements are converted as by `astype`, and in which
/// they are combined; integers wrap around. `reduction`: sum or product. Not in booleans, f16 and bf16, nor
/// of complex numbers in real ones (ArgumentError): use `astype`, or the functions below.
PARTITA_API Array cumulate(const Array& array, int axis, Reduction reduction,
                           SourcePlace where = SourcePlace::current());
PARTITA_API Array cumulate(const Array& array, int axis, Reduction reduction, Dtype dtype,
                           SourcePlace where = SourcePlace::current());

/// Of the dtype of a sum (<partita/array_reductions.hpp>): f32 of f16 and bf16, i64 and u64 of integers.
PARTITA_API Array cumsum(const Array& array, int axis = 0, SourcePlace where = SourcePlace::current());
PARTITA_API Array cumprod(const Array& array, int axis = 0, SourcePlace where = SourcePlace::current());

}  // namespace partita
