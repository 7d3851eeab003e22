// Words and numbers that several bindings take.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <partita/array.hpp>
#include <partita/extents.hpp>
#include <partita/operand.hpp>
#include <partita/scalar.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "binding.hpp"

namespace partita::python {

/// NumPy's words.
inline constexpr std::pair<std::string_view, Order> orders[] = {{"C", Order::row_major},
                                                                {"F", Order::column_major}};

inline Residency residency_of(bool heap) {
  return heap ? Residency::heap : Residency::ordinary;
}

/// "host", "device", or nothing is said.
inline std::optional<MemorySpace> space_of(const std::optional<std::string>& space) {
  if (!space) return std::nullopt;
  return parse<MemorySpace>(*space);
}

/// The memory layout of a new array, in Python's words.
using Words = std::optional<std::string>;
inline ArrayOptions lying(const std::string& order, bool heap, const Words& space) {
  return {.residency = residency_of(heap), .order = named("order", order, orders), .space = space_of(space)};
}

/// Of bool, int, float, complex and NumPy's numbers. TypeError: of nothing else.
Scalar scalar_of(const nb::handle& number);
/// The same for elements of a dtype: 0 and 1 are bools, too.
Scalar scalar_for(Dtype dtype, const nb::handle& number);
/// A bool, int, float or complex.
nb::object python_number(const Scalar& number);

}  // namespace partita::python
