// Each NaN is replaced by the number that does not change the reduction, and the elements that are none are
// counted.
#include <cmath>
#include <complex>
#include <limits>
#include <partita/astype.hpp>
#include <partita/functions.hpp>
#include <partita/nan_reductions.hpp>
#include <partita/places.hpp>
#include <partita/statistics.hpp>

#include "arithmetic/broadcast.hpp"
#include "arithmetic/composed.hpp"
#include "base/check.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The infinity that is never the extreme.
double never(ArrayReduction extreme) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return extreme == ArrayReduction::min ? infinity : -infinity;
}

bool may_have_nan(const Array& a) {
  return !is_integer(a.dtype()) && a.dtype() != Dtype::boolean;
}
Array is_nan(const Array& a) {
  return not_equal(a, a);
}
Array is_number(const Array& a) {
  return equal(a, a);
}

/// With the number in the place of each NaN.
Array filled(const Array& a, double number) {
  return may_have_nan(a) ? where(is_nan(a), number, a) : a;
}

// --- sums and products

Scalar of_numbers(std::string_view operation, ArrayReduction reduction, double identity, const Array& array,
                  std::optional<Stream> stream) {
  arithmetic::begin({operation, reduction, nullptr, stream}, array);
  return reduce(filled(array, identity), reduction);
}
Array of_numbers(std::string_view operation, ArrayReduction reduction, double identity, const Array& array,
                 const Axes& axes, const ReduceAxesOptions& options, SourcePlace where) {
  arithmetic::begin({operation, reduction, &axes, options.stream}, array);
  return reduce(filled(array, identity), reduction, axes, options, where);
}

// --- extrema

Scalar extreme_number(std::string_view operation, ArrayReduction reduction, const Array& array,
                      std::optional<Stream> stream) {
  const double none = never(reduction);
  const Scalar found = of_numbers(operation, reduction, none, array, stream);
  const bool is_unknown = may_have_nan(array) && found == none && all(is_nan(array));
  return is_unknown ? reduce(array, reduction) : found;
}
Array extreme_number(std::string_view operation, ArrayReduction reduction, const Array& array,
                     const Axes& axes, const ReduceAxesOptions& options, SourcePlace place) {
  Array found = of_numbers(operation, reduction, never(reduction), array, axes, options, place);
  if (!may_have_nan(array)) return found;
  where(all(is_nan(array), axes, options), unknown, found, found);
  return arithmetic::finished(found);
}

// --- means and variances

/// In its own dtype.
Scalar divided(const Scalar& sum, double count) {
  const std::complex<double> quotient = sum.as<std::complex<double>>() / count;
  alignas(16) std::byte number[16];
  if (is_complex(sum.dtype())) {
    Scalar(quotient).write(sum.dtype(), number);
  } else {
    Scalar(quotient.real()).write(sum.dtype(), number);
  }
  return Scalar::of(sum.dtype(), number);
}

/// How many elements along the axes are numbers, in the dtype and the layout of `result`.
Array counts_for(const Array& result, const Array& array, const Axes& axes,
                 const ReduceAxesOptions& options) {
  return astype(sum(is_number(array), axes, options), result.dtype());
}

Scalar mean_of_numbers(const Array& x) {
  return divided(sum(filled(x, 0)), sum<double>(is_number(x)));
}
Array means_of_numbers(const Array& x, const Axes& axes, const ReduceAxesOptions& options,
                       SourcePlace where) {
  Array result = sum(filled(x, 0), axes, options, where);
  divide(result, counts_for(result, x, axes, options), result);
  return result;
}

double variance_of_numbers(std::string_view operation, const Array& array, double less) {
  arithmetic::begin({operation, ArrayReduction::mean}, array);
  if (!may_have_nan(array)) return var(array, less);
  const Array x = arithmetic::averaged(array);
  const Array deviations = where(is_nan(x), 0, x - mean_of_numbers(x));
  const double divisor = sum<double>(is_number(x)) - less;
  return sum<double>(arithmetic::squared(deviations)) / (divisor > 0 ? divisor : unknown);
}
Array variances_of_numbers(std::string_view operation, const Array& array, const Axes& axes,
                           const ReduceAxesOptions& options, double less) {
  arithmetic::begin({operation, ArrayReduction::mean, &axes, options.stream}, array);
  if (!may_have_nan(array)) return var(array, axes, options, less);
  const Array x = arithmetic::averaged(array);
  const Array means = means_of_numbers(x, axes, {.keep_dimensions = true}, SourcePlace::current());
  const Array deviations = where(is_nan(x), 0, x - arithmetic::readable(means, x));
  Array result = sum(arithmetic::squared(deviations), axes, options);
  Array divisors = counts_for(result, x, axes, options) - less;
  where(divisors <= 0, unknown, divisors, divisors);
  divide(result, divisors, result);
  return result;
}

// --- places

/// For argmax or argmin.
Array with_places(std::string_view operation, ArrayReduction extreme, const Array& array) {
  arithmetic::begin({operation, extreme}, array);
  if (!may_have_nan(array)) return array;
  check(!all(is_nan(array)), "{}: all elements are NaN", operation);
  return filled(array, never(extreme));
}
Array with_places(std::string_view operation, ArrayReduction extreme, const Array& array, const Axes& axis,
                  const std::optional<Stream>& stream) {
  arithmetic::begin({operation, extreme, &axis, stream}, array);
  if (!may_have_nan(array)) return array;
  check(all(any(is_number(array), axis)), "{}: all elements of a line along axis {} are NaN", operation,
        axis.list[0]);
  return filled(array, never(extreme));
}

}  // namespace

Scalar nansum(const Array& array, std::optional<Stream> stream) {
  const runtime::PublicCall call("nansum");
  return of_numbers("nansum", ArrayReduction::sum, 0, array, stream);
}
Array nansum(const Array& array, const Axes& axes, const ReduceAxesOptions& options, SourcePlace where) {
  const runtime::PublicCall call("nansum");
  return of_numbers("nansum", ArrayReduction::sum, 0, array, axes, options, where);
}

Scalar nanproduct(const Array& array, std::optional<Stream> stream) {
  const runtime::PublicCall call("nanproduct");
  return of_numbers("nanproduct", ArrayReduction::product, 1, array, stream);
}
Array nanproduct(const Array& array, const Axes& axes, const ReduceAxesOptions& options, SourcePlace where) {
  const runtime::PublicCall call("nanproduct");
  return of_numbers("nanproduct", ArrayReduction::product, 1, array, axes, options, where);
}

Scalar nanmin(const Array& array, std::optional<Stream> stream) {
  const runtime::PublicCall call("nanmin");
  return extreme_number("nanmin", ArrayReduction::min, array, stream);
}
Array nanmin(const Array& array, const Axes& axes, const ReduceAxesOptions& options, SourcePlace where) {
  const runtime::PublicCall call("nanmin");
  return extreme_number("nanmin", ArrayReduction::min, array, axes, options, where);
}

Scalar nanmax(const Array& array, std::optional<Stream> stream) {
  const runtime::PublicCall call("nanmax");
  return extreme_number("nanmax", ArrayReduction::max, array, stream);
}
Array nanmax(const Array& array, const Axes& axes, const ReduceAxesOptions& options, SourcePlace where) {
  const runtime::PublicCall call("nanmax");
  return extreme_number("nanmax", ArrayReduction::max, array, axes, options, where);
}

Scalar nanmean(const Array& array, std::optional<Stream> stream) {
  const runtime::PublicCall call("nanmean");
  arithmetic::begin({"nanmean", ArrayReduction::mean, nullptr, stream}, array);
  return may_have_nan(array) ? mean_of_numbers(array) : mean(array);
}
Array nanmean(const Array& array, const Axes& axes, const ReduceAxesOptions& options, SourcePlace where) {
  const runtime::PublicCall call("nanmean");
  arithmetic::begin({"nanmean", ArrayReduction::mean, &axes, options.stream}, array);
  if (!may_have_nan(array)) return mean(array, axes, options, where);
  return arithmetic::finished(means_of_numbers(array, axes, options, where));
}

double nanvar(const Array& array, double less) {
  const runtime::PublicCall call("nanvar");
  return variance_of_numbers("nanvar", array, less);
}
Array nanvar(const Array& array, const Axes& axes, const ReduceAxesOptions& options, double less) {
  const runtime::PublicCall call("nanvar");
  return arithmetic::finished(variances_of_numbers("nanvar", array, axes, options, less));
}

double nanstddev(const Array& array, double less) {
  const runtime::PublicCall call("nanstddev");
  return std::sqrt(variance_of_numbers("nanstddev", array, less));
}
Array nanstddev(const Array& array, const Axes& axes, const ReduceAxesOptions& options, double less) {
  const runtime::PublicCall call("nanstddev");
  Array result = variances_of_numbers("nanstddev", array, axes, options, less);
  apply(Unary::sqrt, result, result);
  return arithmetic::finished(std::move(result));
}

Index nanargmax(const Array& array) {
  const runtime::PublicCall call("nanargmax");
  return argmax(with_places("nanargmax", ArrayReduction::max, array));
}
Array nanargmax(const Array& array, int axis, const ReduceAxesOptions& options, SourcePlace where) {
  const runtime::PublicCall call("nanargmax");
  return argmax(with_places("nanargmax", ArrayReduction::max, array, axis, options.stream), axis, options,
                where);
}
Index nanargmin(const Array& array) {
  const runtime::PublicCall call("nanargmin");
  return argmin(with_places("nanargmin", ArrayReduction::min, array));
}
Array nanargmin(const Array& array, int axis, const ReduceAxesOptions& options, SourcePlace where) {
  const runtime::PublicCall call("nanargmin");
  return argmin(with_places("nanargmin", ArrayReduction::min, array, axis, options.stream), axis, options,
                where);
}

}  // namespace partita
