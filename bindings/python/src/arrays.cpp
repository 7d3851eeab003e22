// Arrays: made, wrapped, looked at.
#include <dlpack/dlpack.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <complex>
#include <partita/call_names.hpp>
#include <partita/partita.hpp>
#include <tuple>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "choices.hpp"
#include "views.hpp"

namespace partita::python {

namespace {

/// The array, and whether its memory may only be read.
std::pair<Array, bool> wrapped(const Context& context, const nb::handle& local,
                               const Distribution& distribution, const Shape& shape) {
  const Memory memory("local", local, false);
  const std::shared_ptr<void> owner = memory.owner();
  const nb::gil_scoped_release unlocked;
  return {wrap(context, memory.view(), distribution, shape, owner), memory.read_only()};
}

/// Strides that are not used are arbitrary: here those of a dense array.
View with_usual_strides(View view) {
  const Strides dense = dense_strides(view.extents);
  const bool empty = volume(view.extents) == 0;
  for (int i = 0; i < view.extents.size(); ++i) {
    if (empty || view.extents[i] == 1) view.strides[i] = dense[i];
  }
  return view;
}

/// A part that this rank has computed for itself, of a layout. Nothing is exchanged. `dense`: in row-major
/// order on all ranks; else the strides are any.
Array wrapped_like(const Context& context, const Layout& layout, const nb::handle& local, bool dense) {
  const Memory memory("local", local, false);
  const std::shared_ptr<void> owner = memory.owner();
  const nb::gil_scoped_release unlocked;
  Operand operand = Operand::of(layout, memory.view().dtype);
  operand.space = memory.view().space;
  operand.dense = dense;
  return wrap(context, dense ? with_usual_strides(memory.view()) : memory.view(), operand, owner);
}

/// A result of `model`, by default in its layout.
Array wrapped_beside(const Array& model, const nb::handle& local, const std::optional<Layout>& layout,
                     bool dense) {
  Array made = wrapped_like(model.context(), layout ? *layout : model.layout(), local, dense);
  set_origin(made, model);
  return made;
}

void end_capsule(PyObject* capsule) noexcept {
  if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;  // a consumer has taken it over
  auto* const tensor = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  tensor->deleter(tensor);
}

/// `stream`: as the array API has it, see to_dlpack.
nb::object dlpack_capsule(const Array& array, const nb::kwargs& options) {
  const nb::object stream = options.contains("stream") ? nb::object(options["stream"]) : nb::none();
  const bool on_device = array.local().space == MemorySpace::device;
  DLManagedTensor* tensor = nullptr;
  if (!on_device || (!stream.is_none() && nb::cast<std::int64_t>(stream) == -1)) {
    tensor = to_dlpack(array);
  } else {
    const auto handle = stream.is_none() ? std::uintptr_t{0} : nb::cast<std::uintptr_t>(stream);
    tensor = to_dlpack(array, Stream(reinterpret_cast<void*>(handle)));
  }
  const nb::object capsule = nb::steal(PyCapsule_New(tensor, "dltensor", end_capsule));
  if (!capsule.is_valid()) tensor->deleter(tensor);
  return capsule;
}

/// kDLCPU or kDLCUDA, and which.
std::pair<int, int> dlpack_device(const Array& array) {
  if (array.local().space == MemorySpace::host) return {kDLCPU, 0};
  return {kDLCUDA, array.context().device().index};
}

/// For numpy.asarray, which then keeps the array. Local parts in device memory have none.
Dict array_interface(const Array& array) {
  if (array.local().space != MemorySpace::host)
    throw nb::attribute_error("__array_interface__: device memory");
  return interface_of(array.local());
}

/// For CuPy, PyTorch, Numba, ..., which then keep the array. Local parts in host memory have none.
Dict cuda_array_interface(const Array& array) {
  if (array.local().space != MemorySpace::device)
    throw nb::attribute_error("__cuda_array_interface__: host memory");
  return interface_of(array.local());
}

/// In the order of Dtype.
using ElementTypes = std::tuple<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                std::uint32_t, std::int64_t, std::uint64_t, Float16, BFloat16, float, double,
                                std::complex<float>, std::complex<double>, Float8E4M3, Float8E5M2>;
static_assert(std::tuple_size_v<ElementTypes> == dtype_count);

/// body(T()) for the C++ type of the dtype.
template <std::size_t first = 0, class Body>
auto for_dtype(Dtype dtype, const Body& body) {
  if constexpr (first + 1 < dtype_count) {
    if (static_cast<std::size_t>(dtype) != first) return for_dtype<first + 1>(dtype, body);
  }
  return body(std::tuple_element_t<first, ElementTypes>());
}

nb::object element_at(const Array& array, const Index& index, StreamHandle stream) {
  return for_dtype(array.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T value = unlocked([&] { return at<T>(array, index, stream_of(stream)); });
    return python_number(Scalar(value));
  });
}

void bind_empty(nb::module_& module) {
  module.def(
      "empty",
      [](const Context& context, const Shape& shape, const Distribution& distribution, Dtype dtype,
         const std::string& order, bool heap, const Words& space) {
        const ArrayOptions options = lying(order, heap, space);
        const SourcePlace where = caller();
        return unlocked([&] { return empty(context, shape, distribution, dtype, options, where); });
      },
      nb::arg("context"), nb::arg("shape"), nb::arg("distribution"), nb::arg("dtype"), nb::arg("order") = "C",
      nb::arg("heap") = true, nb::arg("space") = nb::none());
  module.def(
      "empty_like_layout",
      [](const Context& context, const Layout& layout, Dtype dtype, const std::string& order, bool heap,
         const Words& space) {
        const ArrayOptions options = lying(order, heap, space);
        const SourcePlace where = caller();
        return unlocked([&] { return empty(context, layout, dtype, options, where); });
      },
      nb::arg("context"), nb::arg("layout"), nb::arg("dtype"), nb::arg("order") = "C", nb::arg("heap") = true,
      nb::arg("space") = nb::none());
}

Array full_of(const Context& context, const Shape& shape, const Distribution& distribution,
              const nb::handle& value, Dtype dtype, const std::string& order, bool heap, const Words& space) {
  const Scalar number = scalar_for(dtype, value);
  const ArrayOptions options = lying(order, heap, space);
  const SourcePlace where = caller();
  const nb::gil_scoped_release unlocked;
  return for_dtype(dtype, [&](auto zero) {
    return full(context, shape, distribution, number.as<decltype(zero)>(), options, where);
  });
}

Array range_of(const Context& context, const nb::handle& start, const nb::handle& stop,
               const nb::handle& step, const Distribution& distribution, Dtype dtype, const Words& space) {
  const Scalar first = scalar_of(start), last = scalar_of(stop), by = scalar_of(step);
  const ArrayOptions options = lying("C", true, space);
  const SourcePlace where = caller();
  const nb::gil_scoped_release unlocked;
  return for_dtype(dtype, [&](auto zero) -> Array {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return arange(context, first.as<T>(), last.as<T>(), by.as<T>(), distribution, options, where);
    } else if constexpr (!std::is_same_v<T, bool> && std::is_convertible_v<T, double>) {
      // Counted in double precision, as Python's numbers are, whatever the dtype.
      const double numbers[] = {first.as<double>(), last.as<double>(), by.as<double>()};
      return detail::arange(context, Dtype::f64, Dtype::f64, &numbers[0], &numbers[1], &numbers[2],
                            distribution, dtype, options, where);
    } else {
      throw ArgumentError(std::string("arange does not support dtype ") + numpy_name(dtype));
    }
  });
}

void bind_filled(nb::module_& module) {
  module.def("full", &full_of, nb::arg("context"), nb::arg("shape"), nb::arg("distribution"),
             nb::arg("value"), nb::arg("dtype"), nb::arg("order") = "C", nb::arg("heap") = true,
             nb::arg("space") = nb::none());
  module.def("arange", &range_of, nb::arg("context"), nb::arg("start"), nb::arg("stop"), nb::arg("step"),
             nb::arg("distribution"), nb::arg("dtype"), nb::arg("space") = nb::none());
  module.def(
      "eye",
      [](const Context& context, std::int64_t rows, std::int64_t columns, const Distribution& distribution,
         Dtype dtype, std::int64_t diagonal, const Words& space) {
        const ArrayOptions options = lying("C", true, space);
        const SourcePlace where = caller();
        return unlocked(
            [&] { return eye(context, rows, columns, distribution, dtype, diagonal, options, where); });
      },
      nb::arg("context"), nb::arg("rows"), nb::arg("columns"), nb::arg("distribution"), nb::arg("dtype"),
      nb::arg("diagonal") = 0, nb::arg("space") = nb::none());
  module.def(
      "fill",
      [](Array& array, const nb::handle& value, StreamHandle stream) {
        const Scalar number = scalar_for(array.dtype(), value);
        const nb::gil_scoped_release unlocked;
        for_dtype(array.dtype(), [&](auto zero) {
          const auto one = number.as<decltype(zero)>();
          fill(array, one, stream_of(stream));
        });
      },
      nb::arg("array"), nb::arg("value"), nb::arg("stream") = nb::none());
  module.def(
      "fill_random",
      [](Array& array, std::uint64_t seed, bool normal, StreamHandle stream) {
        normal ? fill_normal(array, seed, stream_of(stream)) : fill_random(array, seed, stream_of(stream));
      },
      nb::arg("array"), nb::arg("seed"), nb::arg("normal"), nb::arg("stream") = nb::none(), Unlocked());
}

Array scattered(const Context& context, const nb::handle& source, const Shape& shape,
                const Distribution& distribution, int root, const Words& space, StreamHandle stream) {
  std::optional<Memory> memory;
  if (context.rank() == root) memory.emplace("source", source, false);
  const View view = memory ? memory->view() : View{};
  const ArrayOptions options = in_stream(lying("C", true, space), stream);
  const SourcePlace where = caller();
  return unlocked([&] { return scatter(context, view, shape, distribution, root, options, where); });
}

void bind_making(nb::module_& module) {
  bind_empty(module);
  bind_filled(module);
  module.def("wrap", &wrapped);
  module.def("wrap_like", &wrapped_like, nb::arg("context"), nb::arg("layout"), nb::arg("local"),
             nb::arg("dense") = true);
  module.def("wrap_beside", &wrapped_beside, nb::arg("model"), nb::arg("local"),
             nb::arg("layout") = nb::none(), nb::arg("dense") = true);
  module.def("scatter", &scattered, nb::arg("context"), nb::arg("source").none(), nb::arg("shape"),
             nb::arg("distribution"), nb::arg("root"), nb::arg("space") = nb::none(),
             nb::arg("stream") = nb::none());
}

void bind_copies(nb::module_& module) {
  module.def(
      "gather",
      [](const Array& array, int root, const Words& space, StreamHandle stream) {
        const ArrayOptions options = in_stream(lying("C", true, space), stream);
        const SourcePlace where = caller();
        return unlocked([&] { return gather(array, root, options, where); });
      },
      nb::arg("array"), nb::arg("root"), nb::arg("space") = nb::none(), nb::arg("stream") = nb::none());
  module.def(
      "astype",
      [](const Array& array, Dtype dtype, const std::string& order, bool heap, const Words& space,
         StreamHandle stream) {
        const ArrayOptions options = in_stream(lying(order, heap, space), stream);
        const SourcePlace where = caller();
        return unlocked([&] { return astype(array, dtype, options, where); });
      },
      nb::arg("array"), nb::arg("dtype"), nb::arg("order") = "C", nb::arg("heap") = true,
      nb::arg("space") = nb::none(), nb::arg("stream") = nb::none());
  module.def(
      "copy",
      [](const Array& source, Array& destination, StreamHandle stream) {
        copy(source, destination, stream_of(stream));
      },
      nb::arg("source"), nb::arg("destination"), nb::arg("stream") = nb::none(), Unlocked());
}

void bind_reading(nb::module_& module) {
  bind_copies(module);
  module.def(
      "compare",
      [](const Array& a, const Array& b, StreamHandle stream) {
        const Comparison found = compare(a, b, stream_of(stream));
        return std::make_pair(found.equal, found.largest_difference);
      },
      nb::arg("a"), nb::arg("b"), nb::arg("stream") = nb::none(), Unlocked());
  module.def("at", &element_at, nb::arg("array"), nb::arg("index"), nb::arg("stream") = nb::none());
  module.def(
      "to_string",
      [](const Array& array, std::int64_t threshold, std::int64_t edge, int precision) {
        return to_string(array, PrintOptions{threshold, edge, precision});
      },
      Unlocked());
  module.def(
      "embed",
      [](const Context& context, const Array* array, const std::vector<int>& ranks) {
        return embed(context, array != nullptr ? *array : Array(), ranks);
      },
      nb::arg("context"), nb::arg("array").none(), nb::arg("ranks"), Unlocked());
}

constexpr std::pair<std::string_view, ArrayReduction> reductions[] = {
    {"sum", ArrayReduction::sum}, {"prod", ArrayReduction::product}, {"min", ArrayReduction::min},
    {"max", ArrayReduction::max}, {"mean", ArrayReduction::mean},    {"norm", ArrayReduction::norm},
    {"any", ArrayReduction::any}, {"all", ArrayReduction::all}};

std::vector<std::int64_t> place_of_all(const Array& array, bool smallest) {
  const Index place = unlocked([&] { return smallest ? argmin(array) : argmax(array); });
  return {place.begin(), place.end()};
}

Array places_along(const Array& array, int axis, bool smallest, bool keep) {
  const SourcePlace where = caller();
  return unlocked([&] {
    const ReduceAxesOptions options{.keep_dimensions = keep};
    return smallest ? argmin(array, axis, options, where) : argmax(array, axis, options, where);
  });
}

Array cumulated(const Array& array, int axis, bool product, Dtype dtype) {
  const SourcePlace where = caller();
  return unlocked(
      [&] { return cumulate(array, axis, product ? Reduction::product : Reduction::sum, dtype, where); });
}

ReduceAxesOptions reduce_options(bool keep, const std::optional<Distribution>& distribution,
                                 std::optional<int> root, bool heap, StreamHandle stream) {
  ReduceAxesOptions options;
  options.stream = stream_of(stream);
  options.keep_dimensions = keep;
  options.distribution = distribution;
  options.root = root;
  options.residency = residency_of(heap);
  return options;
}

Array reduced_along(const Array& array, const std::string& reduction, const std::vector<int>& axes, bool keep,
                    const std::optional<Distribution>& distribution, std::optional<int> root, bool heap,
                    StreamHandle stream) {
  const ReduceAxesOptions options = reduce_options(keep, distribution, root, heap, stream);
  const ArrayReduction kind = named("reduction", reduction, reductions);
  const SourcePlace where = caller();
  return unlocked([&] { return reduce(array, kind, axes, options, where); });
}

/// `var`, or `stddev` where `root_of_it`.
double spread_of_all(const Array& array, bool root_of_it, double less) {
  return unlocked([&] { return root_of_it ? stddev(array, less) : var(array, less); });
}

Array spread_along(const Array& array, bool root_of_it, double less, const std::vector<int>& axes, bool keep,
                   const std::optional<Distribution>& distribution, std::optional<int> root,
                   StreamHandle stream) {
  const ReduceAxesOptions options = reduce_options(keep, distribution, root, true, stream);
  return unlocked(
      [&] { return root_of_it ? stddev(array, axes, options, less) : var(array, axes, options, less); });
}

void bind_reductions(nb::module_& module) {
  module.def(
      "reduce_all",
      [](const Array& array, const std::string& reduction, StreamHandle stream) {
        const ArrayReduction kind = named("reduction", reduction, reductions);
        return python_number(unlocked([&] { return reduce(array, kind, stream_of(stream)); }));
      },
      nb::arg("array"), nb::arg("reduction"), nb::arg("stream") = nb::none());
  module.def("place_of_all", &place_of_all, nb::arg("array"), nb::arg("smallest"));
  module.def("places_along", &places_along, nb::arg("array"), nb::arg("axis"), nb::arg("smallest"),
             nb::arg("keepdims"));
  module.def("cumulate", &cumulated, nb::arg("array"), nb::arg("axis"), nb::arg("product"), nb::arg("dtype"));
  module.def(
      "reduced_layout",
      [](const Layout& layout, const std::vector<int>& axes) { return reduced_layout(layout, axes); },
      nb::arg("layout"), nb::arg("axes"));
  module.def("reduce_axes", &reduced_along, nb::arg("array"), nb::arg("reduction"), nb::arg("axes"),
             nb::arg("keepdims"), nb::arg("distribution").none(), nb::arg("root").none(),
             nb::arg("heap") = true, nb::arg("stream") = nb::none());
  module.def("spread_of_all", &spread_of_all, nb::arg("array"), nb::arg("root_of_it"), nb::arg("less"));
  module.def("spread_along", &spread_along, nb::arg("array"), nb::arg("root_of_it"), nb::arg("less"),
             nb::arg("axes"), nb::arg("keepdims"), nb::arg("distribution").none(), nb::arg("root").none(),
             nb::arg("stream") = nb::none());
  module.def(
      "inner_product",
      [](const Array& a, const Array& b, bool conjugated, StreamHandle stream) {
        return python_number(unlocked([&] { return inner_product(a, b, conjugated, stream_of(stream)); }));
      },
      nb::arg("a"), nb::arg("b"), nb::arg("conjugated"), nb::arg("stream") = nb::none());
}

}  // namespace

void bind_arrays(nb::module_& module) {
  nb::class_<Array>(module, "Array")
      .def_prop_ro("layout", &Array::layout, nb::rv_policy::copy)
      .def_prop_ro("distribution", [](const Array& self) { return self.layout().distribution(); })
      .def_prop_ro("shape", &Array::shape, nb::rv_policy::copy)
      .def_prop_ro("dtype", &Array::dtype)
      .def_prop_ro("local_shape", &Array::local_shape)
      .def_prop_ro("local_strides", [](const Array& self) { return self.local().strides; })
      .def_prop_ro("context", &Array::context)
      .def_prop_ro("operand", &Array::operand)
      .def_prop_ro("is_partial", [](const Array& self) { return self.layout().partial().has_value(); })
      .def_prop_ro("origin", &origin_of)
      .def_prop_ro("on_host", [](const Array& self) { return self.local().space == MemorySpace::host; })
      .def("window", &Array::window, nb::arg("lower"), nb::arg("shape"))
      .def("permuted", &Array::permuted, nb::arg("axes"))
      .def("same_layout",
           [](const Array& self, const Array& other) {
             return self.context() == other.context() &&
                    (self.layout() == other.layout() || self.layout().equivalent(other.layout()));
           })
      .def_prop_ro("__array_interface__", &array_interface)
      .def_prop_ro("__cuda_array_interface__", &cuda_array_interface)
      .def("__dlpack__", &dlpack_capsule, nb::sig("def __dlpack__(self, **options: object) -> object"))
      .def("__dlpack_device__", &dlpack_device);
  bind_making(module);
  bind_reading(module);
  bind_reductions(module);
}

}  // namespace partita::python
