// Operations on the parts of one rank as sequences of elements.
#pragma once

#include <partita/functions.hpp>

#include "arithmetic/arguments.hpp"
#include "array/transfer.hpp"
#include "context/context_state.hpp"
#include "device/device_sorting.hpp"

namespace partita::arithmetic {

/// An array with values, dense and row-major. Throws ArgumentError.
inline void check_dense(std::string_view operation, const Array& one) {
  check_values(operation, one);
  check(arrays::lies_dense(one.local()), "{}: an array is not dense and row-major: clone it first",
        operation);
}

/// What the context's device is, too; the device of this thread then.
inline devices::DeviceSorting& sorting_device(std::string_view operation, ContextState& context) {
  auto* const device = dynamic_cast<devices::DeviceSorting*>(context.device.get());
  check<UnsupportedError>(device != nullptr, "{}: this device does not select elements", operation);
  context.device->use();
  return *device;
}

/// A sequence in the memory of `model`, for this rank.
inline Array sequence_beside(const Array& model, std::int64_t count, Dtype dtype,
                             const std::optional<Stream>& stream) {
  return empty_beside(model, Layout(Replicated{}, {count}, model.context().size()), dtype, stream);
}

}  // namespace partita::arithmetic
