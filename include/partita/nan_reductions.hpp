// Reductions of the elements that are not NaN, of whole arrays or over some axes.
//
// Each function has the name of the one that it follows, with `nan` in front: `nansum` is `sum` of the
// elements that are not NaN. Shapes, dtypes of results, layouts, options and errors are those of that
// function (<partita/array_reductions.hpp>, <partita/statistics.hpp>, <partita/places.hpp>). A complex number
// is NaN if one of its parts is. Arrays of booleans and integers have no NaN: the results are those of the
// functions without `nan`. Not for FP8 (ArgumentError). Medians and quantiles: <partita/quantiles.hpp>.
//
// If all elements are NaN, `nansum` is 0, `nanproduct` is 1, the other numbers are NaN, and `nanargmax` and
// `nanargmin` throw ArgumentError, as in NumPy. An array without elements gives what the functions without
// `nan` give: 0, 1 or an ArgumentError.
//
// Collective over the array's context, and blocking, also on devices. They run after the work on `stream` (if
// unset, on the context's own). They take memory for a copy of the array and for one boolean per element, on
// the symmetric heap; variances for three copies. Errors, the same on every rank: ArgumentError (a partial
// array, an invalid axis, a reduction that is not defined for the dtype), DisagreementError, MemoryError,
// UnsupportedError (a stream for host memory, or one that is being captured).
#pragma once

#include <partita/array_reductions.hpp>

namespace partita {

/// The sum.
PARTITA_API Scalar nansum(const Array& array, std::optional<Stream> stream = {});
PARTITA_API Array nansum(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                         SourcePlace where = SourcePlace::current());

/// The product.
PARTITA_API Scalar nanproduct(const Array& array, std::optional<Stream> stream = {});
PARTITA_API Array nanproduct(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                             SourcePlace where = SourcePlace::current());

/// The smallest element.
PARTITA_API Scalar nanmin(const Array& array, std::optional<Stream> stream = {});
PARTITA_API Array nanmin(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                         SourcePlace where = SourcePlace::current());

/// The largest element.
PARTITA_API Scalar nanmax(const Array& array, std::optional<Stream> stream = {});
PARTITA_API Array nanmax(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                         SourcePlace where = SourcePlace::current());

/// The mean: the sum, rounded to the dtype of the result, divided by the number of elements that are not NaN.
PARTITA_API Scalar nanmean(const Array& array, std::optional<Stream> stream = {});
PARTITA_API Array nanmean(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                          SourcePlace where = SourcePlace::current());

/// The variance. The sum of squares is divided by the number of elements that are not NaN, minus `less`; NaN
/// if that is not positive.
PARTITA_API double nanvar(const Array& array, double less = 0);
PARTITA_API Array nanvar(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                         double less = 0);

/// The root of `nanvar`.
PARTITA_API double nanstddev(const Array& array, double less = 0);
PARTITA_API Array nanstddev(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                            double less = 0);

/// The index of the largest or smallest element. ArgumentError if there is no number among all elements, or
/// among those of a line along the axis. NaN counts as the infinity that is never chosen: if no other number
/// is there, the index may be that of a NaN, as in NumPy.
PARTITA_API Index nanargmax(const Array& array);
PARTITA_API Array nanargmax(const Array& array, int axis, const ReduceAxesOptions& options = {},
                            SourcePlace where = SourcePlace::current());
PARTITA_API Index nanargmin(const Array& array);
PARTITA_API Array nanargmin(const Array& array, int axis, const ReduceAxesOptions& options = {},
                            SourcePlace where = SourcePlace::current());

}  // namespace partita
