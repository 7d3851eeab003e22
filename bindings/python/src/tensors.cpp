#include "tensors.hpp"

#include <partita/error.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attributes.hpp"
#include "binding.hpp"
#include "casters.hpp"

namespace partita::python {

namespace {

constexpr std::pair<const char*, Dtype> names[] = {
    {"float32", Dtype::f32},       {"bfloat16", Dtype::bf16},
    {"float16", Dtype::f16},       {"float64", Dtype::f64},
    {"int64", Dtype::i64},         {"int32", Dtype::i32},
    {"int16", Dtype::i16},         {"int8", Dtype::i8},
    {"uint8", Dtype::u8},          {"uint16", Dtype::u16},
    {"uint32", Dtype::u32},        {"uint64", Dtype::u64},
    {"bool", Dtype::boolean},      {"complex64", Dtype::c64},
    {"complex128", Dtype::c128},   {"float8_e4m3fn", Dtype::f8e4m3},
    {"float8_e5m2", Dtype::f8e5m2}};

/// What of PyTorch is compared with. Made once, when a program has imported it, and stays.
struct Torch {
  explicit Torch(const nb::object& module)
      : tensor(module.attr("Tensor")),
        parameter(module.attr("nn").attr("Parameter")),
        strided(module.attr("strided")) {
    for (const auto& [name, dtype] : names) {
      if (nb::hasattr(module, name))
        dtypes.emplace_back(module.attr(name), dtype);  // not every version has all
    }
  }
  nb::object tensor, parameter, strided;
  std::vector<std::pair<nb::object, Dtype>> dtypes;
};

/// Null where the program has not (wholly) imported it.
const Torch* torch() {
  static const Torch* known = nullptr;
  static PyObject* const name = PyUnicode_InternFromString("torch");
  if (known != nullptr) return known;
  const nb::object module = nb::steal(PyImport_GetModule(name));
  if (!module.is_valid() || !nb::hasattr(module, "Tensor") || !nb::hasattr(module, "nn")) return nullptr;
  known = new Torch(module);  // NOLINT(cppcoreguidelines-owning-memory): outlives the interpreter's own end
  return known;
}

std::optional<Dtype> dtype_of(const Torch& torch, const nb::handle& tensor) {
  static const Attribute dtype("dtype");
  const nb::object given = dtype.of(tensor);
  for (const auto& [known, found] : torch.dtypes) {
    if (known.is(given)) return found;
  }
  return std::nullopt;
}

std::optional<MemorySpace> space_of(const nb::handle& tensor) {
  static const Attribute on_host("is_cpu"), on_device("is_cuda");
  if (on_host.is_true_of(tensor)) return MemorySpace::host;
  if (on_device.is_true_of(tensor)) return MemorySpace::device;
  return std::nullopt;
}

/// A conjugate and the imaginary part of one are marked, and computed when they are used.
void check_made(std::string_view what, const nb::handle& tensor) {
  static const Attribute conjugate("is_conj"), negative("is_neg");
  if (conjugate.called_of(tensor).is(nb::handle(Py_True)) ||
      negative.called_of(tensor).is(nb::handle(Py_True)))
    throw ArgumentError(std::string(what) +
                        ": a tensor that is still to be conjugated or negated: its resolve_conj() or "
                        "resolve_neg() has its numbers in memory");
}

}  // namespace

std::optional<View> view_of_tensor(std::string_view what, const nb::handle& array) {
  static const Attribute layout("layout"), nested("is_nested"), place("data_ptr"), shape("shape"),
      strides("stride");
  const Torch* const known = torch();
  if (known == nullptr || !(array.type().is(known->tensor) || array.type().is(known->parameter)))
    return std::nullopt;
  const std::optional<Dtype> dtype = dtype_of(*known, array);
  const std::optional<MemorySpace> space = space_of(array);
  if (!dtype || !space || !layout.of(array).is(known->strided) || nested.is_true_of(array))
    return std::nullopt;
  const nb::object extents = shape.of(array);
  if (PyTuple_Size(extents.ptr()) > max_dimensions) return std::nullopt;
  check_made(what, array);
  const auto address = nb::cast<std::uintptr_t>(place.called_of(array));
  return View{reinterpret_cast<void*>(address), *dtype,
              nb::cast<Extents>(extents),  // NOLINT(performance-no-int-to-ptr)
              nb::cast<Strides>(strides.called_of(array)), *space};
}

}  // namespace partita::python
