// Arrays whose elements follow from their numbers.
#pragma once

#include <partita/array.hpp>

#include "array/array_state.hpp"
#include "array/elements.hpp"
#include "array/pieces.hpp"
#include "base/visit_dtype.hpp"

namespace partita::arrays {

/// Calls `body(number, element)` as `for_each_element`, with elements of the array's dtype. Those of an array
/// in device memory are made on the host, piece by piece, and copied over; done when it returns. Local.
template <class Body>
void fill_by_number(Array& array, Body&& body) {
  const View& local = array.local();
  const bool on_device = local.space == MemorySpace::device;
  ContextState& context = *array.context_state();
  if (on_device) context.require_usable_here("fill");
  visit_dtype(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (!on_device) return for_each_element<T>(local, array.layout(), context.rank(), body);
    HostPiece memory;
    for_each_piece(local, piece_bytes, [&](const Extents& lower, const Extents& extents) {
      const View there = piece_of(local, lower, extents), here = memory.make(there);
      for_each_element<T>(here, lower, array.layout(), context.rank(), body);
      copy_view(context, here, there);
    });
  });
}

}  // namespace partita::arrays
