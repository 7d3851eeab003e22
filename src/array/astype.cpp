#include <partita/astype.hpp>

#include "array/array_name.hpp"
#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/device_synchronization.hpp"
#include "kernels/host/convert.hpp"
#include "runtime/agree.hpp"

namespace partita {
namespace {

void convert_on_host(const View& from, const View& to) {
  kernels::convert(kernels::conversion_nest(from, to), from.dtype, to.dtype, from.data, to.data);
}

/// One side at least lies in host memory.
void convert_across(const Array& array, Array& result) {
  const bool to_device = result.local().space == MemorySpace::device;
  const Array to = to_device ? arrays::host_like(result) : result;
  convert_on_host(arrays::on_host(array).local(), to.local());
  if (to_device) copy(to, result);
}

/// Whether numbers lose their fraction, or all but whether they are 0: what has been added up then is
/// something else than what is added up of the converted.
bool cuts_off(Dtype from, Dtype to) {
  return to == Dtype::boolean || (is_integer(to) && !is_integer(from));
}

}  // namespace

namespace {

/// `operation`: what the caller has called.
Array converted(std::string_view operation, const Array& array, Dtype dtype, const ArrayOptions& options,
                Stream stream, SourcePlace where) {
  const std::shared_ptr<ContextState>& context = array.context_state();
  context->require_usable(operation);
  const bool loses = is_complex(array.dtype()) && !is_complex(dtype) && dtype != Dtype::boolean;
  const MemorySpace space = options.space.value_or(array.local().space);
  const bool on_device = array.local().space == MemorySpace::device && space == MemorySpace::device;
  runtime::collectively(*context, operation, [&]() -> std::vector<Fact> {
    arrays::require_stream_of_device(operation, on_device || space != array.local().space, stream);
    if (!on_device) devices::follow(*context, operation, stream);
    check(!loses,
          "astype: {} numbers do not become {}: write the part that is meant, or the absolute value, into a "
          "real array (for_each_local, fill)",
          name(array.dtype()), name(dtype));
    check(
        !array.layout().partial() || dtype == array.dtype() || !cuts_off(array.dtype(), dtype),
        "astype: the array {} is partial, and its contributions cannot become {} one by one; redistribute it "
        "first",
        array.layout().to_string(), name(dtype));
    return {{"array", arrays::name_of(array)}, {"dtype", std::string(name(dtype))}};
  });
  ArrayOptions made = options;
  made.space = space;
  Array result = arrays::allocate(context, array.layout(), dtype, made,
                                  fmt::format("{} {}", operation, name(dtype)), where);
  if (on_device && dtype == array.dtype()) {
    copy(array, result, stream);
  } else if (on_device) {
    arrays::convert_on_device(*context, array.local(), result.local(), stream);
  } else {
    const auto across = [&] { dtype == array.dtype() ? copy(array, result) : convert_across(array, result); };
    // Between host and device it takes memory, which some rank may not have.
    if (space == array.local().space) {
      across();
    } else {
      runtime::collectively(*context, "astype", across);
    }
  }
  return result;
}

/// The same, done when it returns.
Array finished(std::string_view operation, const Array& array, Dtype dtype, const ArrayOptions& options,
               SourcePlace where) {
  ContextState& context = *array.context_state();
  if (options.space.value_or(array.local().space) == MemorySpace::device ||
      array.local().space == MemorySpace::device)
    arrays::require_no_capture_together(context, operation);
  Array result = converted(operation, array, dtype, options, {}, where);
  if (result.local().space == MemorySpace::device) devices::finish_device(context, operation);
  return result;
}

}  // namespace

Array astype(const Array& array, Dtype dtype, const ArrayOptions& options, SourcePlace where) {
  return finished("astype", array, dtype, options, where);
}

Array astype(const Array& array, Dtype dtype, const ArrayOptions& options, Stream stream, SourcePlace where) {
  return converted("astype", array, dtype, options, stream, where);
}

Array clone(const Array& array, const ArrayOptions& options, SourcePlace where) {
  return finished("clone", array, array.dtype(), options, where);
}

Array clone(const Array& array, const ArrayOptions& options, Stream stream, SourcePlace where) {
  return converted("clone", array, array.dtype(), options, stream, where);
}

}  // namespace partita
