#include <optional>
#include <partita/astype.hpp>
#include <partita/redistribute.hpp>

#include "array/array_name.hpp"
#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/device_synchronization.hpp"
#include "kernels/host/convert.hpp"
#include "runtime/checks/agree.hpp"

namespace partita {
namespace {

void convert_on_host(const View& from, const View& to) {
  kernels::convert(kernels::conversion_nest(from, to), from.dtype, to.dtype, from.data, to.data);
}

/// At least one side is in host memory.
void convert_across(const Array& array, Array& result) {
  const bool to_device = result.local().space == MemorySpace::device;
  const Array to = to_device ? arrays::host_like(result) : result;
  convert_on_host(arrays::on_host(array).local(), to.local());
  if (to_device) copy(to, result);
}

/// Whether every number of an integer dtype is one of the other, too.
bool contains_all(Dtype to, Dtype from) {
  const bool wider = size_of(to) > size_of(from);
  return is_signed(from) == is_signed(to) ? wider || to == from : wider && is_signed(to);
}

/// Whether contributions may be converted one by one: the reduction of the converted equals the converted
/// reduction (for sums, except for rounding and overflow). Integers that become narrower keep their low
/// bits: enough for sums, products and bits, but their order changes, and one that is not 0 may become 0.
bool converts_contributions(Reduction reduction, Dtype from, Dtype to) {
  if (from == to) return true;
  if (to == Dtype::boolean || !is_defined(reduction, to)) return false;
  if (from == Dtype::boolean) return reduction != Reduction::sum;  // which is "or"
  if (!is_integer(to)) return true;
  if (!is_integer(from)) return false;  // the fraction is lost
  switch (reduction) {
    case Reduction::min:
    case Reduction::max:
      return contains_all(to, from);
    case Reduction::logical_and:
    case Reduction::logical_or:
    case Reduction::logical_xor:
      return size_of(to) >= size_of(from);
    default:
      return true;
  }
}

/// If contributions cannot be converted one by one, but their reduction can, and may replace each of them:
/// the layout of the reduction. Empty: this does not apply.
std::optional<Layout> joined_layout(const Layout& layout, Dtype from, Dtype to) {
  const std::optional<Partial> partial = layout.partial();
  if (!partial || !is_integer(from) || !is_integer(to)) return std::nullopt;
  const Reduction reduction = partial->reduction;
  const bool once_is_enough = reduction == Reduction::min || reduction == Reduction::max ||
                              reduction == Reduction::logical_and || reduction == Reduction::logical_or;
  if (!once_is_enough || converts_contributions(reduction, from, to)) return std::nullopt;
  const auto* const rule = layout.distribution().as<Partitioned>();
  if (rule == nullptr || !(layout == Layout(*rule, layout.shape(), layout.ranks())))
    return std::nullopt;  // a window
  Partitioned joined = *rule;
  joined.spec.partial_axes.clear();
  return Layout(joined, layout.shape(), layout.ranks());
}

/// `operation`: what the caller has called.
Array converted(std::string_view operation, const Array& array, Dtype dtype, const ArrayOptions& options,
                Stream stream, SourcePlace where) {
  const std::shared_ptr<ContextState>& context = array.context_state();
  context->require_usable(operation);
  const bool loses = is_complex(array.dtype()) && !is_complex(dtype) && dtype != Dtype::boolean;
  const MemorySpace space = options.space.value_or(array.local().space);
  const bool on_device = array.local().space == MemorySpace::device && space == MemorySpace::device;
  std::optional<Layout> joined;
  runtime::collectively(*context, operation, [&]() -> std::vector<Fact> {
    arrays::require_stream_of_device(operation, on_device || space != array.local().space, stream);
    if (!on_device) devices::follow(*context, operation, stream);
    check(!loses,
          "astype: {} cannot be converted to {}: write the real part, or the absolute value, into a "
          "real array (for_each_local, fill)",
          name(array.dtype()), name(dtype));
    const std::optional<Partial> partial = array.layout().partial();
    joined = joined_layout(array.layout(), array.dtype(), dtype);
    check(!partial || joined || converts_contributions(partial->reduction, array.dtype(), dtype),
          "astype: the array {} of {} is partial, and its contributions cannot become {} one by one; "
          "redistribute it first",
          array.layout().to_string(), name(array.dtype()), name(dtype));
    return {{"array", arrays::name_of(array)}, {"dtype", std::string(name(dtype))}};
  });
  if (joined) devices::follow(*context, operation, stream);
  const Array source = joined ? redistribute(array, *joined) : array;
  const ArrayOptions made{.residency = options.residency, .order = options.order, .space = space};
  Array result = arrays::allocate(context, array.layout(), dtype, made,
                                  fmt::format("{} {}", operation, name(dtype)), where);
  if (on_device && dtype == array.dtype()) {
    copy(array, result, stream);
  } else if (on_device) {
    arrays::convert_on_device(*context, source.local(), result.local(), stream);
  } else {
    const auto across = [&] {
      dtype == array.dtype() ? copy(array, result) : convert_across(source, result);
    };
    // Between host and device it takes memory, which some rank may not have.
    if (space == array.local().space) {
      across();
    } else {
      runtime::collectively(*context, "astype", across);
    }
  }
  return result;
}

/// Blocks without a stream.
Array converted(std::string_view operation, const Array& array, Dtype dtype, const ArrayOptions& options,
                SourcePlace where) {
  if (options.stream) return converted(operation, array, dtype, options, *options.stream, where);
  ContextState& context = *array.context_state();
  if (options.space.value_or(array.local().space) == MemorySpace::device ||
      array.local().space == MemorySpace::device)
    arrays::require_no_capture_together(context, operation);
  Array result = converted(operation, array, dtype, options, Stream{}, where);
  if (result.local().space == MemorySpace::device) devices::finish_device(context, operation);
  return result;
}

}  // namespace

Array astype(const Array& array, Dtype dtype, const ArrayOptions& options, SourcePlace where) {
  return converted("astype", array, dtype, options, where);
}

Array clone(const Array& array, const ArrayOptions& options, SourcePlace where) {
  return converted("clone", array, array.dtype(), options, where);
}

}  // namespace partita
