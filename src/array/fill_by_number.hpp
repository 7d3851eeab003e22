// Arrays whose elements follow from their numbers.
#pragma once

#include <partita/array.hpp>
#include <partita/elements.hpp>

#include "array/array_state.hpp"
#include "array/elements.hpp"
#include "base/visit_dtype.hpp"

namespace partita::arrays {

/// Calls `body(number, element)` as `for_each_element`, with elements of the array's dtype. Those of an array
/// in device memory are made on the host and copied over, after what `stream` was given; done when it
/// returns. Local.
template <class Body>
void fill_by_number(Array& array, Body&& body, Stream stream = {}) {
  const Array part = detail::host_stand_in(array, stream);
  visit_dtype(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_element<T>(part.local(), part.layout(), part.context_state()->rank(), body);
  });
  if (part.state() != array.state()) copy(part, array, stream);
}

}  // namespace partita::arrays
