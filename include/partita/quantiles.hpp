// Medians, quantiles and percentiles: of whole arrays, or over some axes.
//
// The quantile q of n sorted elements is at the place q (n - 1) among them, counted from 0; between two
// elements the method says which number it is. It is NaN if an element is NaN. Places are computed in f64.
//
// Of a whole array the result is an f64 on every rank (an integer beyond 2^53 is rounded). The array is not
// sorted as a whole: a random sample gives bounds for an element with high probability (R. W. Floyd, R. L.
// Rivest: Expected time bounds for selection. CACM 18, 1975), one pass extracts the elements between
// them, and only these are sorted. Over axes, the result has the dtype of floating-point elements, and f64
// for others; layouts and options are those of reductions (<partita/array_reductions.hpp>). Axes that each
// rank has completely need no communication. Otherwise the array is redistributed to whole lines if there are
// as many lines as ranks, else each line is treated as a whole array. Computed in host memory, also for
// arrays in device memory, where the result is then, too. They take memory for a copy of the array at most.
//
// Collective over the array's context, and blocking. They run after the work on `stream` (if unset, on the
// context's own). Errors, the same on every rank: ArgumentError (no elements, complex numbers, booleans for
// quantiles, q outside [0, 1], an invalid axis, a partial array), DisagreementError, MemoryError,
// UnsupportedError (a stream for host memory, or one that is being captured).
#pragma once

#include <cstdint>
#include <partita/array_reductions.hpp>
#include <partita/names.hpp>
#include <span>
#include <vector>

namespace partita {

/// Which number is the quantile if its place is between two elements.
enum class QuantileMethod : std::uint8_t {
  linear,    ///< in proportion to the place
  lower,     ///< the smaller element
  higher,    ///< the larger element
  midpoint,  ///< the mean of both
  nearest,   ///< the element that is nearest; half-way the one at the even place
};
template <>
struct OptionWords<QuantileMethod> {
  static constexpr std::string_view what = "method of a quantile";
  static constexpr std::string_view words[]{"linear", "lower", "higher", "midpoint", "nearest"};
};

/// The middle element, or the mean of the two middle ones. Of booleans as 0 and 1.
PARTITA_API double median(const Array& array, std::optional<Stream> stream = {});
PARTITA_API Array median(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                         SourcePlace where = SourcePlace::current());

/// The quantile q, from 0 (the smallest element) to 1 (the largest one).
PARTITA_API double quantile(const Array& array, double q, QuantileMethod method = QuantileMethod::linear,
                            std::optional<Stream> stream = {});
/// Several of them, found together.
PARTITA_API std::vector<double> quantile(const Array& array, std::span<const double> q,
                                         QuantileMethod method = QuantileMethod::linear,
                                         std::optional<Stream> stream = {});
PARTITA_API Array quantile(const Array& array, double q, const Axes& axes,
                           const ReduceAxesOptions& options = {},
                           QuantileMethod method = QuantileMethod::linear,
                           SourcePlace where = SourcePlace::current());

/// The same with q in percent, from 0 to 100.
inline double percentile(const Array& array, double q, QuantileMethod method = QuantileMethod::linear,
                         std::optional<Stream> stream = {}) {
  return quantile(array, q / 100, method, stream);
}
inline Array percentile(const Array& array, double q, const Axes& axes, const ReduceAxesOptions& options = {},
                        QuantileMethod method = QuantileMethod::linear,
                        SourcePlace where = SourcePlace::current()) {
  return quantile(array, q / 100, axes, options, method, where);
}

/// The median and the quantile of the elements that are not NaN; NaN if all
/// elements are.
PARTITA_API double nanmedian(const Array& array, std::optional<Stream> stream = {});
PARTITA_API Array nanmedian(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                            SourcePlace where = SourcePlace::current());
PARTITA_API double nanquantile(const Array& array, double q, QuantileMethod method = QuantileMethod::linear,
                               std::optional<Stream> stream = {});
PARTITA_API Array nanquantile(const Array& array, double q, const Axes& axes,
                              const ReduceAxesOptions& options = {},
                              QuantileMethod method = QuantileMethod::linear,
                              SourcePlace where = SourcePlace::current());

/// The elements at these positions in the order of all ranks' elements (0: the smallest), into `found`, on
/// every rank. `values`: this rank's elements, any number, in any order. Both are dense views of one
/// dimension in host memory, of one dtype but FP8; NaNs are the largest elements. The positions are the same
/// on all ranks. Found by a sample, as above; if more than 16 are requested, and for complex numbers, each
/// rank sorts a copy of its elements. Collective, blocking. Errors, the same on every rank: ArgumentError
/// (positions that no element has, other views and dtypes), DisagreementError, MemoryError.
PARTITA_API void order_statistics(const Context& context, const View& values,
                                  std::span<const std::int64_t> positions, const View& found);

}  // namespace partita
