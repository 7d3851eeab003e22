// Quantiles over axes, of whole lines.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <partita/astype.hpp>
#include <partita/quantiles.hpp>
#include <partita/redistribute.hpp>

#include "arithmetic/arguments.hpp"
#include "arithmetic/lines.hpp"
#include "arithmetic/quantile_parts.hpp"
#include "arithmetic/reduced_layouts.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/host/order.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/call_notes.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

using arithmetic::Quantiles;

/// One call over axes, as all ranks have agreed on it.
struct QuantilesOverAxes {
  Quantiles what;
  arithmetic::ReducedAxes reduced;
  ReduceAxesOptions options;
  SourcePlace where;

  static Dtype dtype(const Array& array) {
    return is_integer(array.dtype()) || array.dtype() == Dtype::boolean ? Dtype::f64 : array.dtype();
  }
  Array result(const Array& array, const Layout& layout) const {
    return arrays::allocate(array.context_state(), layout, dtype(array),
                            {.residency = options.residency, .space = MemorySpace::host}, what.operation,
                            where);
  }
};

template <class T>
void write_number(double number, T* to) {
  if constexpr (is_small_float_type<T>) *to = from_float<T>(to_odd(number));
  if constexpr (std::is_floating_point_v<T>) *to = static_cast<T>(number);
}

/// `results`: of floating-point elements of their dtype, of others of f64.
void write_number(Dtype dtype, double number, void* results, std::int64_t at) {
  visit_dtype(dtype, [&](auto tag) {
    write_number(number, static_cast<typename decltype(tag)::type*>(results) + at);
  });
}

/// Of elements of one rank, which are put in another order.
template <class T>
double quantile_here(const Quantiles& what, std::span<T> line) {
  if constexpr (std::is_floating_point_v<T> || is_small_float_type<T>) {
    const std::span<T> numbers = arithmetic::without_nan(line);
    if (numbers.empty() || (!what.of_numbers && numbers.size() < line.size()))
      return std::numeric_limits<double>::quiet_NaN();
    line = numbers;
  }
  const arithmetic::QuantilePlace place =
      arithmetic::place_of(what.q[0], static_cast<std::int64_t>(line.size()), what.method);
  const auto before = line.begin() + place.before;
  const auto is_less = [](T a, T b) { return kernels::comes_before(a, b); };
  std::nth_element(line.begin(), before, line.end(), is_less);
  const T high = place.after == place.before ? *before : *std::min_element(before + 1, line.end(), is_less);
  return arithmetic::value_at(place, arithmetic::as_double(*before), arithmetic::as_double(high), what);
}

/// The kept dimensions come first, each group in its order.
View with_axes_last(const arithmetic::ReducedAxes& reduced, const View& view) {
  View found = view;
  int next = 0;
  for (const bool reduces : {false, true}) {
    for (int d = 0; d < view.extents.size(); ++d) {
      if (reduced.contains(d) != reduces) continue;
      found.extents[next] = view.extents[d];
      found.strides[next++] = view.strides[d];
    }
  }
  return found;
}

std::int64_t reduced_elements(const arithmetic::ReducedAxes& reduced, const Shape& shape) {
  std::int64_t count = 1;
  for (int d = 0; d < shape.size(); ++d) count *= reduced.contains(d) ? shape[d] : 1;
  return count;
}

/// Whether each rank has whole lines, and the layout of results says that it has theirs.
bool has_its_lines(const arithmetic::ReducedAxes& reduced, const Layout& layout, const Layout& left) {
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    if (layout.local_size(rank) == 0 && left.local_size(rank) == 0) continue;
    const Shape local = layout.local_shape(rank);
    if (!(reduced.shape(local) == left.local_shape(rank))) return false;
    if (reduced_elements(reduced, local) != reduced_elements(reduced, layout.shape())) return false;
  }
  return true;
}

Layout layout_of_results(const arithmetic::ReducedAxes& reduced, const Layout& layout) {
  return arithmetic::reduced_layouts(layout, reduced).left;
}

/// Each rank has whole lines. Collective.
Array quantiles_of_whole_lines(const QuantilesOverAxes& call, const Array& array) {
  Array result = call.result(array, layout_of_results(call.reduced, array.layout()));
  ContextState& context = *array.context_state();
  runtime::check_or_tell_all(context, call.what.operation, [&] {
    if (array.local_size() == 0) return;
    const arithmetic::DensePart lines(context, with_axes_last(call.reduced, array.local()),
                                      arithmetic::DensePart::Elements::changed);
    const std::int64_t length = reduced_elements(call.reduced, array.shape());
    visit_dtype(array.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (kernels::has_order<T>) {
        T* line = static_cast<T*>(lines.view().data);
        for (std::int64_t i = 0; i < result.local_size(); ++i, line += length)
          write_number(result.dtype(), quantile_here<T>(call.what, {line, static_cast<std::size_t>(length)}),
                       result.local().data, i);
      }
    });
  });
  return result;
}

/// The longest dimension that is reduced or, if not `reduces`, of the others; -1: there is none.
int longest_axis(const arithmetic::ReducedAxes& reduced, const Shape& shape, bool reduces) {
  return arithmetic::longest_dimension(shape, [&](int d) { return reduced.contains(d) == reduces; });
}

/// Fewer lines than ranks: all ranks look for the quantile of each, and have it. Collective.
Array quantiles_line_by_line(const QuantilesOverAxes& call, const Array& array) {
  const Context context = array.context();
  const Array there = redistribute(array, Slab(longest_axis(call.reduced, array.shape(), true)));
  Array result = call.result(array, Layout(Replicated{}, call.reduced.shape(array.shape()), context.size()));
  std::unique_ptr<arithmetic::DensePart> lines;
  runtime::check_or_tell_all(*context.state(), call.what.operation, [&] {
    lines = std::make_unique<arithmetic::DensePart>(
        *context.state(), with_axes_last(call.reduced, there.local()), call.what.elements());
  });
  const std::int64_t length = reduced_elements(call.reduced, there.local_shape());
  View line = View::dense(lines->view().data, array.dtype(), {length});
  for (std::int64_t i = 0; i < result.size(); ++i) {
    write_number(result.dtype(), arithmetic::quantiles_of(call.what, context, line)[0], result.local().data,
                 i);
    line.data = static_cast<char*>(line.data) + length * size_of(array.dtype());
  }
  return result;
}

/// Of an array in host memory. Collective.
Array quantiles_over(const QuantilesOverAxes& call, const Array& array) {
  const Layout& layout = array.layout();
  if (has_its_lines(call.reduced, layout, layout_of_results(call.reduced, layout)))
    return quantiles_of_whole_lines(call, array);
  const std::int64_t lines = array.size() / reduced_elements(call.reduced, array.shape());
  const int other = longest_axis(call.reduced, array.shape(), false);
  if (lines < layout.ranks()) return quantiles_line_by_line(call, array);
  return quantiles_of_whole_lines(call, redistribute(array, Slab(other)));
}

Array quantiles_over_axes(QuantilesOverAxes call, const Array& array) {
  const std::string_view operation = call.what.operation;
  const ReduceAxesOptions& options = call.options;
  const runtime::PublicCall public_call(operation);
  check(array.valid(), "{}: the array is an empty Array", operation);
  ContextState& context = *array.context_state();
  context.require_usable(operation);
  const runtime::CallNotes::OfArrays of(*context.notes, {array.state()->number});
  std::optional<Layout> wanted;
  runtime::collectively(context, operation, [&]() -> std::vector<Fact> {
    arithmetic::check_axes(operation, array.shape(), call.reduced.axes);
    arithmetic::check_quantiles(call.what, array, reduced_elements(call.reduced, array.shape()),
                                options.stream);
    wanted = arithmetic::wanted_layout(operation, options, layout_of_results(call.reduced, array.layout()));
    return {{"array", array.operand().to_string()},
            {"axes", fmt::format("{}", fmt::join(call.reduced.axes, ","))},
            {"q", fmt::format("{}", fmt::join(call.what.q, ","))},
            {"method", std::string(name(call.what.method))},
            {"result", wanted->to_string()},
            {"residency", options.residency == Residency::heap ? "heap" : "ordinary memory"}};
  });
  const Array there = arithmetic::with_order_on_host(array, options.stream);
  Array result = quantiles_over(call, there);
  if (!(result.layout() == *wanted))
    result = redistribute(result, *wanted, {.residency = options.residency}, call.where);
  if (is_float8(array.dtype()))
    result = astype(result, array.dtype(), {.residency = options.residency}, call.where);
  if (array.local().space == MemorySpace::host) return result;
  return clone(result, {.residency = options.residency, .space = MemorySpace::device}, call.where);
}

}  // namespace

Array median(const Array& array, const Axes& axes, const ReduceAxesOptions& options, SourcePlace where) {
  return quantiles_over_axes({{"median", {0.5}}, {axes.list, options.keep_dimensions}, options, where},
                             array);
}
Array quantile(const Array& array, double q, const Axes& axes, const ReduceAxesOptions& options,
               QuantileMethod method, SourcePlace where) {
  return quantiles_over_axes(
      {{"quantile", {q}, method}, {axes.list, options.keep_dimensions}, options, where}, array);
}
Array nanmedian(const Array& array, const Axes& axes, const ReduceAxesOptions& options, SourcePlace where) {
  const Quantiles what{"nanmedian", {0.5}, QuantileMethod::linear, true};
  return quantiles_over_axes({what, {axes.list, options.keep_dimensions}, options, where}, array);
}
Array nanquantile(const Array& array, double q, const Axes& axes, const ReduceAxesOptions& options,
                  QuantileMethod method, SourcePlace where) {
  const Quantiles what{"nanquantile", {q}, method, true};
  return quantiles_over_axes({what, {axes.list, options.keep_dimensions}, options, where}, array);
}

}  // namespace partita
