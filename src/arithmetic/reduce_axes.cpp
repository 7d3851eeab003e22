// Elements joined along axes: each rank its own part, and what several ranks have contributed to by a
// redistribution of partial values.
#include <fmt/ranges.h>

#include <partita/redistribute.hpp>

#include "arithmetic/arguments.hpp"
#include "arithmetic/folding.hpp"
#include "arithmetic/reduced_layouts.hpp"
#include "collectives/layouts.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/agree.hpp"

namespace partita {
namespace {

using arithmetic::Folding;
using arithmetic::ReducedAxes;
using arithmetic::ReducedLayouts;

/// One reduction, checked.
struct AxesReduction {
  std::string_view operation;
  Folding folding;
  ReducedAxes reduced;
  ReducedLayouts layouts;
  Layout result;
  std::int64_t count = 1;  ///< elements that become one
};

void check_axes(std::string_view operation, const Shape& shape, const std::vector<int>& axes) {
  check(!axes.empty(), "{}: no axes are named; without a list of axes all elements are reduced", operation);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    check(axes[i] >= 0 && axes[i] < shape.size(), "{}: an array of {} dimensions has no axis {}", operation,
          shape.size(), axes[i]);
    check(std::find(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i), axes[i]) ==
              axes.begin() + static_cast<std::ptrdiff_t>(i),
          "{}: axis {} is named twice", operation, axes[i]);
  }
}

Layout wanted_layout(std::string_view operation, const ReduceAxesOptions& options,
                     const ReducedLayouts& layouts, int ranks) {
  const Shape& shape = layouts.left.shape();
  check(!options.root || !options.distribution, "{}: the result has either a root or a distribution",
        operation);
  if (options.root) {
    check(*options.root >= 0 && *options.root < ranks, "{}: the root {} is not one of the {} ranks",
          operation, *options.root, ranks);
    return collective::at_root(shape, *options.root, ranks);
  }
  if (!options.distribution) return layouts.left;
  Layout layout(*options.distribution, shape, ranks);
  check(!layout.partial(), "{}: the result's layout {} is partial", operation, layout.to_string());
  return layout;
}

AxesReduction checked(const Array& array, ArrayReduction reduction, const std::vector<int>& axes,
                      const ReduceAxesOptions& options, Stream stream) {
  const std::string_view operation = name(reduction);
  arithmetic::check_values(operation, array);
  arithmetic::check_stream(operation, array, stream);
  check_axes(operation, array.shape(), axes);
  const Folding folding = arithmetic::folding_of(reduction, array.dtype());
  std::int64_t count = 1;
  for (const int axis : axes) count *= array.shape()[axis];
  check(!folding.needs_elements || count > 0, "{}: the array {} has no elements along the axes", operation,
        to_string(array.shape()));
  arithmetic::prepare_folds(operation, array, stream);
  const ReducedAxes reduced{axes, options.keep_dimensions, folding.reduction};
  ReducedLayouts layouts = arithmetic::reduced_layouts(array.layout(), reduced);
  Layout result = wanted_layout(operation, options, layouts, array.layout().ranks());
  return {operation, folding, reduced, std::move(layouts), std::move(result), count};
}

std::vector<Fact> facts_of(const Array& array, const AxesReduction& what) {
  return {{"array", array.operand().to_string()},
          {"axes", fmt::format("{}", fmt::join(what.reduced.axes, ","))},
          {"result", what.result.to_string()}};
}

/// The strides of the kept dimensions in an array of the result's shape.
Strides kept_strides(const ReducedAxes& reduced, const Strides& strides, int dimensions) {
  Strides result;
  int next = 0;
  for (int d = 0; d < dimensions; ++d) {
    if (!reduced.contains(d)) result.push_back(strides[next]);
    if (!reduced.contains(d) || reduced.keep_dimensions) ++next;
  }
  return result;
}

/// What this rank has, joined. Local; done, or in the stream.
void fold_into(const AxesReduction& what, const Array& array, Array& joined, Stream stream) {
  ContextState& context = *array.context_state();
  const bool has_elements =
      what.layouts.whole ? arithmetic::counts(array.layout(), context.rank()) : array.local_size() > 0;
  if (what.layouts.whole || !has_elements) {
    std::array<std::byte, 16> identity{};
    write_identity(what.folding.reduction, what.folding.joined, identity.data());
    fill(joined, static_cast<const void*>(identity.data()));
  }
  if (!has_elements) return;
  const int dimensions = array.shape().size();
  const arithmetic::Destination to{joined.local().data, what.reduced.kept(dimensions),
                                   kept_strides(what.reduced, joined.local().strides, dimensions),
                                   what.layouts.whole};
  if (array.local().space == MemorySpace::host)
    return arithmetic::fold_part(what.folding, array, nullptr, to, {});
  const Stream used = devices::begin_device_work(context, stream);
  arithmetic::fold_part(what.folding, array, nullptr, to, used);
  devices::end_device_work(context, used);
}

/// Of joined values the results. Collective.
Array finished(const AxesReduction& what, const Array& joined, SourcePlace where) {
  const Folding& folding = what.folding;
  if (folding.joined == folding.result && !folding.root && !folding.divided) return joined;
  const std::shared_ptr<ContextState>& context = joined.context_state();
  Array result =
      arrays::allocate_on_heap(context, what.result, folding.result, Order::row_major,
                               fmt::format("result of {}", what.operation), where, joined.local().space);
  const bool on_device = result.local().space == MemorySpace::device;
  const Stream used = on_device ? devices::begin_device_work(*context) : Stream{};
  arithmetic::finish_part(*context, folding, joined.local(), result.local(), what.count, used);
  if (on_device) devices::end_device_work(*context, used);
  return result;
}

}  // namespace

Array reduce(const Array& array, ArrayReduction reduction, const Axes& axes, const ReduceAxesOptions& options,
             Stream stream, SourcePlace where) {
  const std::string_view operation = name(reduction);
  check(array.valid(), "{}: the array is missing", operation);
  const std::shared_ptr<ContextState>& context = array.context_state();
  context->require_usable(operation);
  std::optional<AxesReduction> what;
  runtime::collectively(*context, operation, [&] {
    what = checked(array, reduction, axes.list, options, stream);
    return facts_of(array, *what);
  });
  const MemorySpace space = array.local().space;
  Array joined = arrays::allocate_on_heap(context, what->layouts.joined, what->folding.joined,
                                          Order::row_major, operation, where, space);
  fold_into(*what, array, joined, stream);
  if (!(joined.layout() == what->result)) joined = redistribute(joined, what->result, {}, where);
  Array result = finished(*what, joined, where);
  if (space == MemorySpace::device) devices::finish_device(*context, operation);
  return result;
}

}  // namespace partita
