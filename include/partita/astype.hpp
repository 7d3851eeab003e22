// Arrays in another dtype.
#pragma once

#include <partita/array.hpp>

namespace partita {

/// A new array of the same layout with every element converted. Numbers become the nearest that the new dtype
/// has (ties to even; beyond its range infinity, of f8e4m3 NaN); on the way to integers the fraction is cut
/// off, what is out of range becomes the nearest integer that there is, NaN 0. Integers among each other keep
/// their low bits, as in C. Anything but 0 becomes true. Real numbers get an imaginary part of 0; from
/// complex to real there is no way but an error: which part is meant must be said (`for_each_local`).
///
/// The same dtype: a copy. Of a partial array the contributions are converted, each by itself; ArgumentError
/// where that is no conversion of what they are joined to: to integers from floating numbers, to boolean,
/// sums of booleans, and dtypes for which the reduction is not defined. Minima and maxima are joined first
/// where the integers become narrower, and each contribution is then the result. `options`: of the result;
/// `space` unset: where the array is. Collective. Blocks, or with a stream is stream-ordered
/// (<partita/stream.hpp>); where one of the two is in host memory, the host waits. Errors, the same on every
/// rank: ArgumentError, DisagreementError, MemoryError.
PARTITA_API Array astype(const Array& array, Dtype dtype, const ArrayOptions& options = {},
                         SourcePlace where = SourcePlace::current());

}  // namespace partita
