// Quantiles of all elements, found in the parts of the ranks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <partita/astype.hpp>
#include <partita/collectives.hpp>
#include <partita/quantiles.hpp>

#include "arithmetic/arguments.hpp"
#include "arithmetic/folding.hpp"
#include "arithmetic/lines.hpp"
#include "arithmetic/quantile_parts.hpp"
#include "base/visit_dtype.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/call_notes.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace arithmetic {
namespace {

/// As NumPy: from the nearer end, so that the result increases with the share and does not leave the
/// interval.
double between(double a, double b, double share) {
  if (share == 0 || a == b) return a;
  return share < 0.5 ? a + (b - a) * share : b - (b - a) * (1 - share);
}

/// How many of these are NaN.
std::int64_t count_nans(const View& view) {
  std::int64_t nans = 0;
  visit_dtype(view.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T> || is_small_float_type<T>) {
      const auto* const values = static_cast<const T*>(view.data);
      for (std::int64_t i = 0; i < view.extents[0]; ++i) nans += values[i] != values[i];
    }
  });
  return nans;
}

View numbers_of(const View& view) {
  View numbers = view;
  visit_dtype(view.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T> || is_small_float_type<T>)
      numbers.extents = {std::ssize(
          without_nan(std::span(static_cast<T*>(view.data), static_cast<std::size_t>(view.extents[0]))))};
  });
  return numbers;
}

double number_at(Dtype dtype, const void* elements, std::size_t i) {
  return visit_dtype(dtype, [&](auto tag) {
    return as_double(static_cast<const typename decltype(tag)::type*>(elements)[i]);
  });
}

}  // namespace

QuantilePlace place_of(double q, std::int64_t count, QuantileMethod method) {
  double place = q * static_cast<double>(count - 1);
  const double lower = std::floor(place), upper = std::ceil(place);
  if (method == QuantileMethod::lower) place = lower;
  if (method == QuantileMethod::higher) place = upper;
  if (method == QuantileMethod::midpoint) place = (lower + upper) / 2;
  if (method == QuantileMethod::nearest) place = std::nearbyint(place);
  const auto before = static_cast<std::int64_t>(std::floor(place));
  return {before, std::min(before + 1, count - 1), place - std::floor(place)};
}

double value_at(const QuantilePlace& place, double a, double b, const Quantiles& what) {
  if (what.is_median() && place.share == 0.5) return std::midpoint(a, b);
  return between(a, b, place.share);
}

void check_quantiles(const Quantiles& what, const Array& array, std::int64_t count,
                     const std::optional<Stream>& stream) {
  arithmetic::check_values(what.operation, array);
  arithmetic::check_stream(what.operation, array, stream);
  arithmetic::check_folds(what.operation, array, stream);
  check(!is_complex(array.dtype()), "{} is not defined for {}", what.operation, name(array.dtype()));
  check(array.dtype() != Dtype::boolean || what.is_median(), "{} is not defined for bool; use astype",
        what.operation);
  for (const double q : what.q) check(q >= 0 && q <= 1, "{}: {} is not between 0 and 1", what.operation, q);
  check(count > 0, "{}: the array {} has no elements to choose from", what.operation,
        to_string(array.shape()));
}

Array with_order_on_host(const Array& array, const std::optional<Stream>& stream) {
  Array found = array;
  if (array.local().space == MemorySpace::device)
    found = clone(array, {.stream = stream, .residency = Residency::ordinary, .space = MemorySpace::host});
  if (stream) array.context().synchronize(*stream);
  return is_float8(array.dtype()) ? astype(found, Dtype::f32, {.residency = Residency::ordinary}) : found;
}

std::vector<double> quantiles_of(const Quantiles& what, const Context& context, const View& part) {
  const View mine = what.of_numbers ? numbers_of(part) : part;
  std::vector<std::int64_t> counts{mine.extents[0], count_nans(mine)};
  if (context.size() > 1) all_reduce(context, counts);
  if (counts[0] == 0 || counts[1] > 0)
    return std::vector<double>(what.q.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<QuantilePlace> places;
  std::vector<std::int64_t> positions;
  for (const double q : what.q) {
    places.push_back(place_of(q, counts[0], what.method));
    positions.push_back(places.back().before);
    positions.push_back(places.back().after);
  }
  std::vector<std::byte> found(positions.size() * static_cast<std::size_t>(size_of(mine.dtype)));
  order_statistics(context, mine, positions,
                   View::dense(found.data(), mine.dtype, {static_cast<std::int64_t>(positions.size())}));
  std::vector<double> result;
  for (std::size_t i = 0; i < places.size(); ++i)
    result.push_back(value_at(places[i], number_at(mine.dtype, found.data(), 2 * i),
                              number_at(mine.dtype, found.data(), 2 * i + 1), what));
  return result;
}

}  // namespace arithmetic

namespace {

using arithmetic::Quantiles;

std::vector<double> quantiles_of_all(const Quantiles& what, const Array& array,
                                     const std::optional<Stream>& stream) {
  const runtime::PublicCall call(what.operation);
  check(array.valid(), "{}: the array is an empty Array", what.operation);
  ContextState& context = *array.context_state();
  context.require_usable(what.operation);
  const runtime::CallNotes::OfArrays of(*context.notes, {array.state()->number});
  runtime::collectively(context, what.operation, [&]() -> std::vector<Fact> {
    arithmetic::check_quantiles(what, array, array.size(), stream);
    return {{"array", array.operand().to_string()},
            {"q", fmt::format("{}", fmt::join(what.q, ","))},
            {"method", std::string(name(what.method))}};
  });
  const Array there = arithmetic::with_order_on_host(array, stream);
  std::unique_ptr<arithmetic::DensePart> mine;
  runtime::check_or_tell_all(context, what.operation, [&] {
    mine = std::make_unique<arithmetic::DensePart>(context, there.local(), what.elements());
  });
  View flat = mine->view();
  const bool counts = arithmetic::counts(there.layout(), context.rank());
  flat.extents = {counts ? there.local_size() : 0};  // of replicas one counts
  flat.strides = {1};
  return arithmetic::quantiles_of(what, array.context(), flat);
}

}  // namespace

double median(const Array& array, std::optional<Stream> stream) {
  return quantiles_of_all({"median", {0.5}}, array, stream)[0];
}
double quantile(const Array& array, double q, QuantileMethod method, std::optional<Stream> stream) {
  return quantiles_of_all({"quantile", {q}, method}, array, stream)[0];
}
std::vector<double> quantile(const Array& array, std::span<const double> q, QuantileMethod method,
                             std::optional<Stream> stream) {
  return quantiles_of_all({"quantile", {q.begin(), q.end()}, method}, array, stream);
}
double nanmedian(const Array& array, std::optional<Stream> stream) {
  return quantiles_of_all({"nanmedian", {0.5}, QuantileMethod::linear, true}, array, stream)[0];
}
double nanquantile(const Array& array, double q, QuantileMethod method, std::optional<Stream> stream) {
  return quantiles_of_all({"nanquantile", {q}, method, true}, array, stream)[0];
}

}  // namespace partita
