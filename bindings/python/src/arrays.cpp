// Arrays: made, wrapped, looked at.
#include <dlpack/dlpack.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <partita/partita.hpp>

#include "binding.hpp"
#include "casters.hpp"
#include "choices.hpp"
#include "views.hpp"

namespace partita::python {

namespace {

ArrayOptions made_as(const std::string& order, bool heap) {
  return {heap ? Residency::heap : Residency::ordinary, named("order", order, orders), {}};
}

/// The array, and whether its memory may only be read.
std::pair<Array, bool> wrapped(const Context& context, const nb::handle& local,
                               const Distribution& distribution, const Shape& shape) {
  const Memory memory("local", local, false);
  const std::shared_ptr<void> owner = memory.owner();
  const nb::gil_scoped_release unlocked;
  return {wrap(context, memory.view(), distribution, shape, owner), memory.read_only()};
}

/// Strides that nobody steps by are any: here those of a dense array.
View with_usual_strides(View view) {
  const Strides dense = dense_strides(view.extents);
  const bool empty = volume(view.extents) == 0;
  for (int i = 0; i < view.extents.size(); ++i) {
    if (empty || view.extents[i] == 1) view.strides[i] = dense[i];
  }
  return view;
}

/// A part that this rank has computed for itself, of a layout. On the host nothing is exchanged.
Array wrapped_like(const Context& context, const Layout& layout, const nb::handle& local) {
  const Memory memory("local", local, false);
  const std::shared_ptr<void> owner = memory.owner();
  const nb::gil_scoped_release unlocked;
  if (memory.view().space == MemorySpace::device) return wrap(context, memory.view(), layout, owner);
  return wrap(context, with_usual_strides(memory.view()), Operand::of(layout, memory.view().dtype), owner);
}

Array wrapped_beside(const Array& like, const nb::handle& local) {
  return wrapped_like(like.context(), like.layout(), local);
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

nb::object element_at(const Array& array, const Index& index) {
  return for_dtype(array.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T value{};
    {
      const nb::gil_scoped_release unlocked;
      value = at<T>(array, index);
    }
    return python_number(Scalar(value));
  });
}

void bind_making(nb::module_& module) {
  module.def(
      "empty",
      [](const Context& context, const Shape& shape, const Distribution& distribution, Dtype dtype,
         const std::string& order,
         bool heap) { return empty(context, shape, distribution, dtype, made_as(order, heap)); },
      Unlocked());
  module.def(
      "empty_like_layout",
      [](const Context& context, const Layout& layout, Dtype dtype, const std::string& order, bool heap) {
        return empty(context, layout, dtype, made_as(order, heap));
      },
      Unlocked());
  module.def("full", [](const Context& context, const Shape& shape, const Distribution& distribution,
                        const nb::handle& value, Dtype dtype, const std::string& order, bool heap) {
    const Scalar number = scalar_of(value);
    const ArrayOptions options = made_as(order, heap);
    const nb::gil_scoped_release unlocked;
    return for_dtype(dtype, [&](auto zero) {
      return full(context, shape, distribution, number.as<decltype(zero)>(), options);
    });
  });
  module.def("arange", [](const Context& context, const nb::handle& start, const nb::handle& stop,
                          const nb::handle& step, const Distribution& distribution, Dtype dtype) {
    const Scalar first = scalar_of(start), last = scalar_of(stop), by = scalar_of(step);
    const nb::gil_scoped_release unlocked;
    return for_dtype(dtype, [&](auto zero) -> Array {
      using T = decltype(zero);
      if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
        return arange(context, first.as<T>(), last.as<T>(), by.as<T>(), distribution);
      } else {
        throw ArgumentError(std::string("arange: there are none of dtype ") + numpy_name(dtype));
      }
    });
  });
  module.def(
      "eye",
      [](const Context& context, std::int64_t rows, std::int64_t columns, const Distribution& distribution,
         Dtype dtype,
         std::int64_t diagonal) { return eye(context, rows, columns, distribution, dtype, diagonal); },
      Unlocked());
  module.def(
      "fill_random",
      [](Array& array, std::uint64_t seed, bool normal) {
        normal ? fill_normal(array, seed) : fill_random(array, seed);
      },
      Unlocked());
  module.def("wrap", &wrapped);
  module.def("wrap_like", &wrapped_like);
  module.def("wrap_beside", &wrapped_beside);
  module.def(
      "scatter",
      [](const Context& context, const nb::handle& source, const Shape& shape,
         const Distribution& distribution, int root) {
        std::optional<Memory> memory;
        if (context.rank() == root) memory.emplace("source", source, false);
        const View view = memory ? memory->view() : View{};
        const nb::gil_scoped_release unlocked;
        return scatter(context, view, shape, distribution, root);
      },
      nb::arg("context"), nb::arg("source").none(), nb::arg("shape"), nb::arg("distribution"),
      nb::arg("root"));
}

void bind_reading(nb::module_& module) {
  module.def(
      "gather", [](const Array& array, int root) { return gather(array, root); }, Unlocked());
  module.def(
      "compare",
      [](const Array& a, const Array& b) {
        const Comparison found = compare(a, b);
        return std::make_pair(found.equal, found.largest_difference);
      },
      Unlocked());
  module.def("at", &element_at);
  module.def(
      "astype", [](const Array& array, Dtype dtype) { return astype(array, dtype); }, Unlocked());
  module.def(
      "copy", [](const Array& source, Array& destination) { copy(source, destination); }, Unlocked());
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

void bind_reductions(nb::module_& module) {
  module.def("reduce_all", [](const Array& array, const std::string& reduction) {
    const ArrayReduction kind = named("reduction", reduction, reductions);
    std::optional<Scalar> number;
    {
      const nb::gil_scoped_release unlocked;
      number = reduce(array, kind);
    }
    return python_number(*number);
  });
  module.def(
      "reduce_axes",
      [](const Array& array, const std::string& reduction, const std::vector<int>& axes, bool keep,
         const std::optional<Distribution>& distribution, std::optional<int> root) {
        ReduceAxesOptions options;
        options.keep_dimensions = keep;
        options.distribution = distribution;
        options.root = root;
        return reduce(array, named("reduction", reduction, reductions), axes, options);
      },
      nb::arg("array"), nb::arg("reduction"), nb::arg("axes"), nb::arg("keepdims"),
      nb::arg("distribution").none(), nb::arg("root").none(), Unlocked());
  module.def("inner_product", [](const Array& a, const Array& b, bool conjugated) {
    std::optional<Scalar> number;
    {
      const nb::gil_scoped_release unlocked;
      number = inner_product(a, b, conjugated);
    }
    return python_number(*number);
  });
}

}  // namespace

void bind_arrays(nb::module_& module) {
  nb::class_<Array>(module, "Array")
      .def_prop_ro("layout", &Array::layout, nb::rv_policy::copy)
      .def_prop_ro("distribution", [](const Array& self) { return self.layout().distribution(); })
      .def_prop_ro("shape", &Array::shape, nb::rv_policy::copy)
      .def_prop_ro("dtype", &Array::dtype)
      .def_prop_ro("local_shape", &Array::local_shape)
      .def_prop_ro("context", &Array::context)
      .def_prop_ro("operand", &Array::operand)
      .def_prop_ro("is_partial", [](const Array& self) { return self.layout().partial().has_value(); })
      .def_prop_ro("on_host", [](const Array& self) { return self.local().space == MemorySpace::host; })
      .def("window", &Array::window, nb::arg("lower"), nb::arg("shape"))
      .def("permuted", &Array::permuted, nb::arg("axes"))
      .def("same_layout",
           [](const Array& self, const Array& other) {
             return self.context() == other.context() &&
                    (self.layout() == other.layout() || self.layout().equivalent(other.layout()));
           })
      .def_prop_ro("__array_interface__", &array_interface)
      .def("__dlpack__", &dlpack_capsule, nb::sig("def __dlpack__(self, **options: object) -> object"))
      .def("__dlpack_device__", &dlpack_device);
  bind_making(module);
  bind_reading(module);
  bind_reductions(module);
}

}  // namespace partita::python
