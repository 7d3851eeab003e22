// Elements of one dtype to elements of another.
#pragma once

#include <partita/view.hpp>

#include "kernels/host/copy.hpp"

namespace partita::kernels {

/// The nest over all elements of two views of the same extents, which `convert` wants: `item_bytes` is one
/// element of `to`, or 0 where there is none; loops that are one on both sides are merged, and the innermost
/// lies closest in `to`. Not to be simplified: rows are no runs of bytes that both sides share.
StridedCopy conversion_nest(const View& from, const View& to);

/// to[...] = from[...], converted as `astype` says, in host memory; the two must not overlap. Complex numbers
/// become complex or boolean, otherwise: ArgumentError. Thread-safe.
void convert(const StridedCopy& nest, Dtype from_dtype, Dtype to_dtype, const void* from, void* to);

}  // namespace partita::kernels
