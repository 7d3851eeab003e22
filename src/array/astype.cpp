#include <partita/astype.hpp>

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

void convert_on_device(ContextState& context, const View& from, const View& to) {
  const kernels::StridedCopy nest = kernels::conversion_nest(from, to);
  if (nest.item_bytes == 0) return;
  const Stream stream = devices::begin_device_work(context);
  context.device->convert(nest, from.dtype, to.dtype, from.data, to.data, stream);
  devices::finish_device(context, "astype");
}

}  // namespace

Array astype(const Array& array, Dtype dtype, const ArrayOptions& options, SourcePlace where) {
  const std::shared_ptr<ContextState>& context = array.context_state();
  context->require_usable("astype");
  const bool loses = is_complex(array.dtype()) && !is_complex(dtype) && dtype != Dtype::boolean;
  runtime::collectively(*context, "astype", [&]() -> std::vector<Fact> {
    check(!loses,
          "astype: {} numbers do not become {}: write the part that is meant, or the absolute value, into a "
          "real array (for_each_local, fill)",
          name(array.dtype()), name(dtype));
    return {{"array", array.operand().to_string()}, {"dtype", std::string(name(dtype))}};
  });
  ArrayOptions made = options;
  made.space = options.space.value_or(array.local().space);
  Array result =
      arrays::allocate(context, array.layout(), dtype, made, fmt::format("astype {}", name(dtype)), where);
  if (dtype == array.dtype()) return copy(array, result), result;
  const bool on_device = array.local().space == MemorySpace::device;
  const bool to_device = result.local().space == MemorySpace::device;
  if (on_device && to_device) {
    convert_on_device(*context, array.local(), result.local());
  } else {
    const Array to = to_device ? arrays::host_like(result) : result;
    convert_on_host(arrays::on_host(array).local(), to.local());
    if (to_device) copy(to, result);
  }
  return result;
}

}  // namespace partita
