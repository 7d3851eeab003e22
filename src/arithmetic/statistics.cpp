// Variances as two reductions: that of the mean, and that of the squared deviations from it. Counts as sums
// of booleans.
#include <algorithm>
#include <cmath>
#include <partita/astype.hpp>
#include <partita/elementwise.hpp>
#include <partita/functions.hpp>
#include <partita/statistics.hpp>

#include "arithmetic/broadcast.hpp"
#include "arithmetic/composed.hpp"
#include "base/check.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

double divisor(std::int64_t count, double less) {
  return std::max(static_cast<double>(count) - less, 0.0);
}

double variance(std::string_view operation, const Array& array, double less) {
  arithmetic::begin({operation, ArrayReduction::mean}, array);
  const Array x = arithmetic::averaged(array);
  const Scalar centre = reduce(x, ArrayReduction::mean);
  return sum<double>(arithmetic::squared(x - centre)) / divisor(volume(array.shape()), less);
}

Array variances(std::string_view operation, const Array& array, const Axes& axes,
                const ReduceAxesOptions& options, double less) {
  arithmetic::begin({operation, ArrayReduction::mean, &axes, options.stream}, array);
  const Array x = arithmetic::averaged(array);
  const Array centre = mean(x, axes, {.keep_dimensions = true});
  Array result = sum(arithmetic::squared(x - arithmetic::readable(centre, x)), axes, options);
  divide(result, divisor(arithmetic::count_along(array, axes), less), result);
  return result;
}

/// What is not zero. Collective.
Array truths(const arithmetic::Composed& call, const Array& array) {
  arithmetic::begin(call, array);
  return array.dtype() == Dtype::boolean ? array : astype(array, Dtype::boolean);
}

}  // namespace

double var(const Array& array, double less) {
  const runtime::PublicCall call("var");
  return variance("var", array, less);
}
Array var(const Array& array, const Axes& axes, const ReduceAxesOptions& options, double less) {
  const runtime::PublicCall call("var");
  return arithmetic::finished(variances("var", array, axes, options, less));
}
double stddev(const Array& array, double less) {
  const runtime::PublicCall call("stddev");
  return std::sqrt(variance("stddev", array, less));
}
Array stddev(const Array& array, const Axes& axes, const ReduceAxesOptions& options, double less) {
  const runtime::PublicCall call("stddev");
  Array result = variances("stddev", array, axes, options, less);
  apply(Unary::sqrt, result, result);
  return arithmetic::finished(std::move(result));
}

Scalar ptp(const Array& array) {
  const runtime::PublicCall call("ptp");
  const Scalar least = reduce(array, ArrayReduction::min), most = reduce(array, ArrayReduction::max);
  check(array.dtype() != Dtype::boolean, "ptp is not defined for bool");
  if (!is_integer(array.dtype())) return most.as<double>() - least.as<double>();
  if (!is_signed(array.dtype())) return most.as<std::uint64_t>() - least.as<std::uint64_t>();
  const auto distance = static_cast<std::uint64_t>(most.as<std::int64_t>()) -
                        static_cast<std::uint64_t>(least.as<std::int64_t>());
  return static_cast<std::int64_t>(distance);
}
Array ptp(const Array& array, const Axes& axes, const ReduceAxesOptions& options) {
  const runtime::PublicCall call("ptp");
  return max(array, axes, options) - min(array, axes, options);
}

std::int64_t count_nonzero(const Array& array, std::optional<Stream> stream) {
  const runtime::PublicCall call("count_nonzero");
  return sum<std::int64_t>(truths({"count_nonzero", ArrayReduction::any, nullptr, stream}, array));
}
Array count_nonzero(const Array& array, const Axes& axes, const ReduceAxesOptions& options,
                    SourcePlace where) {
  const runtime::PublicCall call("count_nonzero");
  return sum(truths({"count_nonzero", ArrayReduction::any, &axes, options.stream}, array), axes, options,
             where);
}

}  // namespace partita
