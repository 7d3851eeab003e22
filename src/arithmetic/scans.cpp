// Sums and products along an axis: of each rank's elements, and then of those of the ranks before it.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <partita/array_reductions.hpp>
#include <partita/collectives.hpp>
#include <partita/elementwise.hpp>
#include <partita/functions.hpp>
#include <partita/redistribute.hpp>
#include <partita/scans.hpp>
#include <vector>

#include "arithmetic/arguments.hpp"
#include "arithmetic/folding.hpp"
#include "arithmetic/lines.hpp"
#include "arithmetic/reduced_layouts.hpp"
#include "array/transfer.hpp"
#include "device/device_sorting.hpp"
#include "device/stream_work.hpp"
#include "kernels/host/convert.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/call_notes.hpp"

namespace partita {
namespace {

using devices::DeviceSorting;

/// One scan along an axis, of arrays of one layout. `dtype`: of the result.
struct Scanning {
  std::string_view operation;
  int axis;
  Reduction reduction;
  Dtype dtype;

  bool product() const { return reduction == Reduction::product; }
};

/// Of dense lines in device memory. Stream-ordered.
void scan_lines_on_device(const Scanning& what, const Array& model, const kernels::ScanPass& pass) {
  ContextState& context = *model.context_state();
  auto* const device = dynamic_cast<DeviceSorting*>(context.device.get());
  check<UnsupportedError>(device != nullptr, "{}: this device does not scan", what.operation);
  context.device->use();
  const Layout bytes(Replicated{}, {device->scan_scratch_bytes(pass)}, context.size());
  const Array scratch = empty_beside(model, bytes, Dtype::u8);
  devices::put_into_stream(context, what.operation, {},
                           [&](Stream used, bool) { device->scan(pass, scratch.local().data, used); });
}

/// The elements in the dtype of `to`. Stream-ordered on devices.
void put_elements(ContextState& context, const View& from, const View& to) {
  const bool on_host = from.space == MemorySpace::host, are_alike = from.dtype == to.dtype;
  if (on_host && are_alike) return arrays::copy_view(context, from, to);
  if (on_host)
    return kernels::convert(kernels::conversion_nest(from, to), from.dtype, to.dtype, from.data, to.data);
  if (are_alike) return arrays::copy_view(context, from, to, std::nullopt);
  arrays::convert_on_device(context, from, to, std::nullopt);
}

/// Of this rank's part, which has elements, into a dense part of the same extents. Stream-ordered on devices.
void scan_here(const Scanning& what, const Array& array, const Array& result) {
  ContextState& context = *array.context_state();
  const View &from = array.local(), &to = result.local();
  const bool on_host = from.space == MemorySpace::host;
  kernels::ScanPass pass{to.dtype, to.dtype,  what.product(), 1, from.extents[what.axis],
                         1,        from.data, to.data};
  for (int d = 0; d < from.extents.size(); ++d) {
    if (d < what.axis) pass.lines *= from.extents[d];
    if (d > what.axis) pass.inner *= from.extents[d];
  }
  if (pass.inner > 1 && !on_host) {
    const View source = arithmetic::with_axis_last(from, what.axis);
    const Array lines = empty_beside(array, Layout(Replicated{}, source.extents, context.size()), to.dtype);
    pass.lines *= pass.inner;
    pass.inner = 1;
    pass.from = pass.to = lines.local().data;
    put_elements(context, source, lines.local());
    scan_lines_on_device(what, array, pass);
    return arrays::copy_view(context, lines.local(), arithmetic::with_axis_last(to, what.axis), std::nullopt);
  }
  const bool is_read_so = from.dtype == to.dtype || kernels::is_widened_in_scans(from.dtype, to.dtype);
  if (arrays::lies_dense(from) && is_read_so) {
    pass.from_dtype = from.dtype;
  } else {
    pass.from = to.data;
    put_elements(context, from, to);
  }
  if (on_host) return kernels::scan(pass);
  scan_lines_on_device(what, array, pass);
}

/// The last elements of this rank's lines, in host memory, dense; `identity` if it has none. Blocking.
std::vector<std::byte> totals_here(const Scanning& what, const Array& result, const Shape& shape) {
  const Dtype dtype = result.dtype();
  const auto item = static_cast<std::size_t>(size_of(dtype));
  std::vector<std::byte> totals(static_cast<std::size_t>(volume(shape)) * item);
  View last = result.local();
  if (result.local_size() == 0) {
    std::array<std::byte, 16> identity{};
    write_identity(what.reduction, dtype, identity.data());
    for (std::size_t at = 0; at < totals.size(); at += item) std::memcpy(&totals[at], identity.data(), item);
    return totals;
  }
  const std::int64_t first = (last.extents[what.axis] - 1) * last.strides[what.axis];
  last.data = static_cast<char*>(last.data) + first * size_of(dtype);
  last.extents[what.axis] = 1;
  arrays::copy_view(*result.context_state(), last, View::dense(totals.data(), dtype, last.extents));
  return totals;
}

/// Joins what the ranks before have with this rank's elements, which it has scanned. `number`: of the array.
/// Collective.
void join_those_before(const Scanning& what, std::uint64_t number, Array& result) {
  Shape shape = result.shape();
  shape[what.axis] = 1;
  if (volume(shape) == 0) return;
  ContextState& context = *result.context_state();
  std::vector<std::byte> totals;
  runtime::check_or_tell_all(context, what.operation, [&] { totals = totals_here(what, result, shape); });
  const runtime::CallNotes::OfArrays of(*context.notes, {number});
  const View flat = View::dense(totals.data(), result.dtype(), {volume(shape)});
  scan(result.context(), flat, flat, {.reduction = what.reduction}, Scan::exclusive);
  runtime::check_or_tell_all(context, what.operation, [&] {
    if (result.local_size() == 0 ||
        result.layout().region(context.rank()).sets[static_cast<std::size_t>(what.axis)].front() == 0)
      return;
    Array before = empty_beside(result, Layout(Replicated{}, shape, context.size()), result.dtype());
    copy(View::dense(totals.data(), result.dtype(), shape), before);
    what.product() ? multiply(before, result, result) : add(before, result, result);
  });
}

/// That of a sum or product.
Dtype wide_dtype(const Array& array) {
  check(array.valid(), "cumulate: the array is an empty Array");
  return arithmetic::folding_of(ArrayReduction::sum, array.dtype()).result;
}

}  // namespace

Array cumulate(const Array& array, int axis, Reduction reduction, SourcePlace where) {
  check(array.valid(), "cumulate: the array is an empty Array");
  return cumulate(array, axis, reduction, array.dtype(), where);
}

Array cumulate(const Array& array, int axis, Reduction reduction, Dtype dtype, SourcePlace where) {
  const Scanning what{"cumulate", axis, reduction, dtype};
  check(array.valid(), "cumulate: the array is an empty Array");
  ContextState& context = *array.context_state();
  context.require_usable(what.operation);
  runtime::check_or_tell_all(context, what.operation, [&] {
    arithmetic::check_values(what.operation, array);
    check(axis >= 0 && axis < array.shape().size(), "cumulate: an array of {} dimensions has no axis {}",
          array.shape().size(), axis);
    check(reduction == Reduction::sum || reduction == Reduction::product,
          "cumulate: the reduction must be sum or product");
    check(kernels::is_scanned_here(dtype), "cumulate is not defined for {}; use astype", name(dtype));
    check(is_complex(dtype) || !is_complex(array.dtype()),
          "cumulate: {} cannot be converted to {}: use `real`, `imag` or `abs`", name(array.dtype()),
          name(dtype));
    arithmetic::check_folds(what.operation, array, {});
  });
  const bool whole = arithmetic::has_whole_lines(array.layout(), axis);
  const bool there_already = whole || arithmetic::blocks_along(array.layout(), axis).has_value();
  const Array there = there_already ? array : redistribute(array, Slab(axis));
  const MemorySpace space = there.local().space;
  Array result = arrays::allocate(array.context_state(), there.layout(), dtype, {.space = space},
                                  fmt::format("cumulate by {} along {}", name(reduction), axis), where);
  runtime::check_or_tell_all(context, what.operation, [&] {
    if (there.local_size() > 0) scan_here(what, there, result);
  });
  if (!whole && context.size() > 1) join_those_before(what, array.state()->number, result);
  if (space == MemorySpace::device) devices::finish_device(context, what.operation);
  return there_already ? result : redistribute(result, array.layout());
}

Array cumsum(const Array& array, int axis, SourcePlace where) {
  return cumulate(array, axis, Reduction::sum, wide_dtype(array), where);
}
Array cumprod(const Array& array, int axis, SourcePlace where) {
  return cumulate(array, axis, Reduction::product, wide_dtype(array), where);
}

}  // namespace partita
