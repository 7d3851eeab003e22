// Variances, standard deviations, the distance between the extremes, and the number of nonzero elements.
//
// Layouts, streams and errors are those of reductions (<partita/array_reductions.hpp>): collective, blocking.
// Variances are real; booleans and integers are computed in f64, f16 and bf16 in f32. They take memory for a
// copy of the array.
#pragma once

#include <partita/array_reductions.hpp>

namespace partita {

/// The mean of |x - mean|^2. The sum is divided by the number of elements minus `less` (1: the estimate for
/// the population of which the array is a sample); if that is not positive, by 0.
PARTITA_API double var(const Array& array, double less = 0);
PARTITA_API Array var(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                      double less = 0);

/// The root of `var`.
PARTITA_API double stddev(const Array& array, double less = 0);
PARTITA_API Array stddev(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                         double less = 0);

/// The largest element minus the smallest: of all elements in i64, u64 or f64, along axes in the dtype of the
/// array. Integers wrap around. Not for booleans and complex numbers (ArgumentError).
PARTITA_API Scalar ptp(const Array& array);
PARTITA_API Array ptp(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {});

/// How many elements are not zero; NaN is not zero. Along axes of i64; 0 for an empty array. Not for FP8.
/// Takes memory for one boolean per element, on the symmetric heap.
PARTITA_API std::int64_t count_nonzero(const Array& array, std::optional<Stream> stream = {});
PARTITA_API Array count_nonzero(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                                SourcePlace where = SourcePlace::current());

}  // namespace partita
