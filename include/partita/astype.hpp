// Conversion of arrays to another dtype.
#pragma once

#include <partita/array.hpp>

namespace partita {

/// A new array of the same layout with every element converted to `dtype`.
/// - To floating-point: rounded to the nearest number, ties to even; beyond the range infinity (f8e4m3: NaN).
/// - Floating-point to integer: truncated; values out of range become the nearest integer, NaN becomes 0.
/// - Integer to integer: the low bits are kept, as in C.
/// - To boolean: nonzero is true.
/// - Real to complex: the imaginary part is 0. Complex to real is an ArgumentError: choose a part with
///   `for_each_local`.
///
/// The same dtype makes a copy. For a partial array each contribution is converted separately; ArgumentError
/// if this would change the reduced value: floating-point to integer, to boolean, sums of booleans, dtypes
/// for which the reduction is not defined. Minima and maxima are reduced first if integers become narrower;
/// each contribution is then the result. `options`: memory of the result; `space` defaults to that of the
/// array. Collective; blocks, or is stream-ordered (<partita/stream.hpp>); if one of the two arrays is in
/// host memory, the host waits. Errors, the same on every rank: ArgumentError, DisagreementError,
/// MemoryError.
PARTITA_API Array astype(const Array& array, Dtype dtype, const ArrayOptions& options = {},
                         SourcePlace where = SourcePlace::current());

}  // namespace partita
