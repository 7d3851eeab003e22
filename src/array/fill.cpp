#include "kernels/host/fill.hpp"

#include <partita/array.hpp>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/device_synchronization.hpp"

namespace partita {

void fill(Array& array, const void* value, std::optional<Stream> stream) {
  const View& local = array.local();
  const bool on_device = local.space == MemorySpace::device;
  check(value != nullptr, "fill: the value is a null pointer");
  arrays::check_written("fill", array);
  arrays::require_stream_of_device("fill", on_device, stream);
  if (on_device) {
    ContextState& context = *array.context_state();
    stream ? context.require_usable_here("fill") : devices::require_no_capture(context, "fill");
    arrays::fill_on_device(context, local, value, stream);
    if (!stream) devices::finish_device(context, "fill");
    return;
  }
  const kernels::StridedCopy nest = kernels::destination_of(arrays::nest_over(local, local));
  if (nest.item_bytes == 0) return;
  kernels::fill(nest, value, size_of(local.dtype), local.data, kernels::hint_for(arrays::bytes_of(local)));
}

}  // namespace partita
