// Memory on a device for arrays in host memory, while the device works on them.
#pragma once

#include <partita/array.hpp>
#include <partita/operand.hpp>
#include <string_view>

#include "context/context_state.hpp"

namespace partita::arrays {

/// What a device sees of an array in host memory: an array of the same layout on the device's heap, dense; in
/// the same order where that is row- or column-major.
Operand device_mirror_of(const Operand& operand);

/// The operand that planners use if another operand is in the memory space `other`. Between host and device
/// memory the device does the work: an operand on the host is copied to or from an array of the same layout
/// on the device's heap.
Operand as_planned(const Operand& operand, MemorySpace other);

/// Throws ArgumentError where an array of the caller's is not in host memory, or not of the dtype and layout
/// that the plan was made for. "fft", "the input".
void check_matches(const Operand& planned, const Array& given, std::string_view operation,
                   std::string_view name);

/// That array, for as long as a plan lives. It does not keep the context, which keeps the plan. Collective.
Array allocate_device_mirror(ContextState& context, const Operand& operand);

}  // namespace partita::arrays
