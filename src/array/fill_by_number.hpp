// Arrays whose elements follow from their numbers.
#pragma once

#include <partita/array.hpp>

#include "array/elements.hpp"
#include "base/visit_dtype.hpp"

namespace partita::arrays {

/// Calls `body(number, element)` for each element of the array's part, as `fill_rows`, with elements of its
/// dtype. Local.
template <class Body>
void fill_by_number(Array& array, Body&& body) {
  visit_dtype(array.dtype(), [&](auto tag) {
    fill_rows(array, [&](const ElementRow& row) { row.visit<typename decltype(tag)::type>(body); });
  });
}

}  // namespace partita::arrays
