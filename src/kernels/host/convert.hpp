// Elements of one dtype to elements of another.
#pragma once

#include <partita/view.hpp>

#include "kernels/host/copy.hpp"

namespace partita::kernels {

/// The nest over all elements of two views of the same extents, as `convert` requires: `item_bytes` is the
/// size of one element of `to`, or 0 without elements; loops that can be merged on both sides are merged, and
/// the innermost has the smallest stride in `to`. Must not be simplified: rows are not runs of bytes common
/// to both sides.
StridedCopy conversion_nest(const View& from, const View& to);

/// to[...] = from[...], converted as `astype` says, in host memory; the two must not overlap. Complex numbers
/// become complex or boolean, otherwise: ArgumentError. Thread-safe.
void convert(const StridedCopy& nest, Dtype from_dtype, Dtype to_dtype, const void* from, void* to);

}  // namespace partita::kernels
