#include "kernels/host/fill.hpp"

#include <partita/array.hpp>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/device_synchronization.hpp"

namespace partita {

void fill(Array& array, const void* value) {
  const View& local = array.local();
  check(value != nullptr, "fill: the value is a null pointer");
  arrays::check_written("fill", array);
  if (local.space == MemorySpace::device) {
    devices::require_no_capture(*array.context_state(), "fill");
    arrays::fill_on_device(*array.context_state(), local, value, {});
    return devices::finish_device(*array.context_state(), "fill");
  }
  const kernels::StridedCopy nest = kernels::destination_of(arrays::nest_over(local, local));
  if (nest.item_bytes == 0) return;
  kernels::fill(nest, value, size_of(local.dtype), local.data, kernels::hint_for(arrays::bytes_of(local)));
}

void fill(Array& array, const void* value, Stream stream) {
  const bool on_device = array.local().space == MemorySpace::device;
  check(value != nullptr, "fill: the value is a null pointer");
  arrays::check_written("fill", array);
  arrays::require_stream_of_device("fill", on_device, stream);
  if (!on_device) return fill(array, value);
  array.context_state()->require_usable_here("fill");
  arrays::fill_on_device(*array.context_state(), array.local(), value, stream);
}

}  // namespace partita
