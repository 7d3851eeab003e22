// Elementwise work by the library's kernels, into arrays that a rank makes for itself. All of it is local.
#include <nanobind/nanobind.h>

#include <partita/functions.hpp>
#include <partita/selection.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "choices.hpp"

namespace partita::python {

namespace {

ArrayOrScalar operand_of(const nb::handle& given) {
  if (nb::isinstance<Array>(given)) return nb::cast<Array>(given);
  return scalar_of(given);
}

using Arithmetic = void (*)(const ArrayOrScalar&, const ArrayOrScalar&, Array&, std::optional<Stream>);
constexpr std::pair<std::string_view, Arithmetic> arithmetic[] = {{"add", &partita::add},
                                                                  {"subtract", &partita::subtract},
                                                                  {"multiply", &partita::multiply},
                                                                  {"divide", &partita::divide}};

void join(const std::string& function, const nb::handle& a, const nb::handle& b, Array& out,
          StreamHandle stream) {
  const ArrayOrScalar left = operand_of(a), right = operand_of(b);
  const nb::gil_scoped_release unlocked;
  for (const auto& [name, run] : arithmetic) {
    if (name == function) return run(left, right, out, stream_of(stream));
  }
  apply(parse<Binary>(function, "function"), left, right, out, stream_of(stream));
}

void select(const Array& condition, const nb::handle& a, const nb::handle& b, Array& out,
            StreamHandle stream) {
  const ArrayOrScalar chosen = operand_of(a), other = operand_of(b);
  const nb::gil_scoped_release unlocked;
  where(condition, chosen, other, out, stream_of(stream));
}

/// Other elements of an array's part in memory, `offset` elements after its first one, as the part of a
/// layout. A result of `model`, by default of the array: on all ranks of the same one.
Array seen_as(const Array& array, const Layout& layout, std::int64_t offset, const Extents& strides,
              bool dense, const Array* model) {
  View view = array.local();
  view.data = static_cast<char*>(view.data) + offset * size_of(view.dtype);
  view.extents = layout.local_shape(array.context().rank());
  view.strides = strides;
  Operand operand = Operand::of(layout, view.dtype);
  operand.space = view.space;
  operand.dense = dense;
  Array seen = wrap(array.context(), view, operand, std::make_shared<Array>(array));
  set_origin(seen, model != nullptr ? *model : array);
  return seen;
}

}  // namespace

void bind_elementwise(nb::module_& module) {
  const auto stream = nb::arg("stream") = nb::none();
  module.def("join", &join, nb::arg("function"), nb::arg("a"), nb::arg("b"), nb::arg("out"), stream);
  module.def(
      "apply",
      [](const std::string& function, const Array& a, Array& out, StreamHandle in) {
        apply(parse<Unary>(function, "function"), a, out, stream_of(in));
      },
      nb::arg("function"), nb::arg("a"), nb::arg("out"), stream, Unlocked());
  module.def("select", &select, nb::arg("condition"), nb::arg("a"), nb::arg("b"), nb::arg("out"), stream);
  module.def(
      "convert",
      [](const Array& source, Array& out, StreamHandle in) { convert(source, out, stream_of(in)); },
      nb::arg("source"), nb::arg("out"), stream, Unlocked());
  module.def(
      "empty_beside",
      [](const Array& model, const Layout& layout, Dtype dtype, StreamHandle in) {
        return empty_beside(model, layout, dtype, stream_of(in));
      },
      nb::arg("model"), nb::arg("layout"), nb::arg("dtype"), stream, Unlocked());
  module.def(
      "sort_part",
      [](const Array& source, Array* out, Array* order, bool descending, StreamHandle in) {
        Array unwanted;
        Array& sorted = out != nullptr ? *out : unwanted;
        if (order != nullptr) return sort_part(source, sorted, *order, descending, stream_of(in));
        sort_part(source, sorted, descending, stream_of(in));
      },
      nb::arg("source"), nb::arg("out").none(), nb::arg("order").none(), nb::arg("descending"), stream,
      Unlocked());
  module.def(
      "true_positions",
      [](const Array& mask, StreamHandle in) { return true_positions(mask, stream_of(in)); }, nb::arg("mask"),
      stream, Unlocked());
  module.def(
      "gather_part",
      [](const Array& source, const Array& rows, Array& out, StreamHandle in) {
        gather_part(source, rows, out, stream_of(in));
      },
      nb::arg("source"), nb::arg("rows"), nb::arg("out"), stream, Unlocked());
  module.def(
      "take_part",
      [](const Array& source, const Array& indices, Array& out, int axis, const std::string& rule,
         StreamHandle in) {
        return take_part(source, indices, out, axis, parse<OutOfRange>(rule), stream_of(in));
      },
      nb::arg("source"), nb::arg("indices"), nb::arg("out"), nb::arg("axis"), nb::arg("rule"), stream,
      Unlocked());
  module.def(
      "search_part",
      [](const Array& source, const Array& values, Array& out, bool after, StreamHandle in) {
        search_part(source, values, out, after, stream_of(in));
      },
      nb::arg("source"), nb::arg("values"), nb::arg("out"), nb::arg("after"), stream, Unlocked());
  module.def(
      "count_part",
      [](const Array& source, const Array* edges, const Array* weights, Array& out, StreamHandle in) {
        const Array none;
        const Array& given = edges != nullptr ? *edges : none;
        if (weights != nullptr) return count_part(source, given, *weights, out, stream_of(in));
        count_part(source, given, out, stream_of(in));
      },
      nb::arg("source"), nb::arg("edges").none(), nb::arg("weights").none(), nb::arg("out"), stream,
      Unlocked());
  module.def("real", &real);
  module.def("imag", &imag);
  module.def("seen_as", &seen_as, nb::arg("array"), nb::arg("layout"), nb::arg("offset"), nb::arg("strides"),
             nb::arg("dense"), nb::arg("model").none() = nb::none());
}

}  // namespace partita::python
