// Variances as two reductions: that of the mean, and that of the squared deviations from it.
#include <algorithm>
#include <cmath>
#include <partita/astype.hpp>
#include <partita/elementwise.hpp>
#include <partita/functions.hpp>
#include <partita/statistics.hpp>

#include "arithmetic/arguments.hpp"
#include "arithmetic/broadcast.hpp"
#include "arithmetic/folding.hpp"
#include "arithmetic/reduced_layouts.hpp"
#include "context/context_state.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

/// In the dtype of its mean.
Array averaged(std::string_view operation, const Array& array) {
  check(array.valid(), "{}: the array is an empty Array", operation);
  const Dtype wanted = arithmetic::folding_of(ArrayReduction::mean, array.dtype()).result;
  return wanted == array.dtype() ? array : astype(array, wanted);
}

/// |x|^2 of a temporary array.
Array squared(Array deviations) {
  if (is_complex(deviations.dtype())) {
    const Array x = real(deviations), y = imag(deviations);
    return x * x + y * y;
  }
  multiply(deviations, deviations, deviations);
  return deviations;
}

double divisor(std::int64_t count, double less) {
  return std::max(static_cast<double>(count) - less, 0.0);
}

double variance(std::string_view operation, const Array& array, double less) {
  const Array x = averaged(operation, array);
  const Scalar centre = reduce(x, ArrayReduction::mean);
  return sum<double>(squared(x - centre)) / divisor(volume(array.shape()), less);
}

Array variances(std::string_view operation, const Array& array, const Axes& axes,
                const ReduceAxesOptions& options, double less) {
  const Array x = averaged(operation, array);
  runtime::check_or_tell_all(*array.context_state(), operation,
                             [&] { arithmetic::check_axes(operation, array.shape(), axes.list); });
  const Array centre = mean(x, axes, {.stream = options.stream, .keep_dimensions = true});
  Array result = sum(squared(x - arithmetic::readable(centre, x)), axes, options);
  std::int64_t count = 1;
  for (const int axis : axes.list) count *= array.shape()[axis];
  divide(result, divisor(count, less), result);
  return result;
}

Array finished(Array result) {
  if (result.local().space == MemorySpace::device) result.context().synchronize();
  return result;
}

}  // namespace

double var(const Array& array, double less) {
  const runtime::PublicCall call("var");
  return variance("var", array, less);
}
Array var(const Array& array, const Axes& axes, const ReduceAxesOptions& options, double less) {
  const runtime::PublicCall call("var");
  return finished(variances("var", array, axes, options, less));
}
double stddev(const Array& array, double less) {
  const runtime::PublicCall call("stddev");
  return std::sqrt(variance("stddev", array, less));
}
Array stddev(const Array& array, const Axes& axes, const ReduceAxesOptions& options, double less) {
  const runtime::PublicCall call("stddev");
  Array result = variances("stddev", array, axes, options, less);
  apply(Unary::sqrt, result, result);
  return finished(std::move(result));
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

}  // namespace partita
