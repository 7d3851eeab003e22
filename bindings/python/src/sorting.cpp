// Sorted arrays, and what programs that sort by themselves use: cuts of sorted parts, order statistics.
#include <nanobind/nanobind.h>

#include <partita/quantiles.hpp>
#include <partita/sorting.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "views.hpp"

namespace partita::python {

namespace {

using Positions = std::vector<std::int64_t>;

Array sorted_array(const Array& array, std::optional<int> axis, bool descending, bool order) {
  const SortOptions options{.descending = descending, .flat = !axis};
  const SourcePlace where = caller();
  const nb::gil_scoped_release unlocked;
  return order ? argsort(array, axis, options, where) : sort(array, axis, options, where);
}

std::pair<Positions, Positions> cut_memory(const Context& context, const nb::object& sorted,
                                           const Positions& positions, bool descending) {
  const Memory part("sorted", sorted, false);
  const nb::gil_scoped_release unlocked;
  SortedCuts found = cut_sorted(context, part.view(), positions, descending);
  return {std::move(found.cuts), std::move(found.below)};
}

void exchange_memory_sorted(const Context& context, const nb::object& sorted, const nb::object& destination,
                            bool descending) {
  const Operands operands(sorted, destination);
  const nb::gil_scoped_release unlocked;
  exchange_sorted(context, operands.source(), operands.destination(), descending);
}

void select_from_memory(const Context& context, const nb::object& values, const Positions& positions,
                        const nb::object& found) {
  const Operands operands(values, found);
  const nb::gil_scoped_release unlocked;
  order_statistics(context, operands.source(), positions, operands.destination());
}

}  // namespace

void bind_sorting(nb::module_& module) {
  module.def("sorted_array", &sorted_array, nb::arg("array"), nb::arg("axis").none(), nb::arg("descending"),
             nb::arg("order"));
  module.def("cut_sorted", &cut_memory, nb::arg("context"), nb::arg("sorted"), nb::arg("positions"),
             nb::arg("descending"));
  module.def("exchange_sorted", &exchange_memory_sorted, nb::arg("context"), nb::arg("sorted"),
             nb::arg("destination"), nb::arg("descending"));
  module.def("order_statistics", &select_from_memory, nb::arg("context"), nb::arg("values"),
             nb::arg("positions"), nb::arg("found"));
}

}  // namespace partita::python
