// What logical reductions of numbers still need: a rank that joined nothing has its numbers as they were.
#pragma once

#include <partita/reduction.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>

#include "context/context_state.hpp"
#include "device/device_memory.hpp"

namespace partita::collective {

/// Whether elements that nothing was joined with may be other than 0 and 1.
bool is_logical(Reduction reduction, Dtype dtype);

/// The identity of a reduction in device memory.
devices::DeviceMemory identity_on(devices::Accelerator& device, Reduction reduction, Dtype dtype);

/// Makes 0 or 1 of every element. `identity`: in device memory, of a view there, in stream order; else null.
void normalize_logical(ContextState& context, Reduction reduction, const View& view, const void* identity,
                       Stream stream);

}  // namespace partita::collective
