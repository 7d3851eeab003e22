#include "views.hpp"

#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <partita/error.hpp>
#include <string_view>
#include <utility>

#include "tensors.hpp"

namespace partita::python {

namespace {

std::optional<Dtype> dtype_of(const nb::dlpack::dtype& dtype) {
  if (dtype.lanes != 1) return std::nullopt;
  const auto by_bits = [&](Dtype of_8, Dtype of_16, Dtype of_32, Dtype of_64) -> std::optional<Dtype> {
    if (dtype.bits == 8) return of_8;
    if (dtype.bits == 16) return of_16;
    if (dtype.bits == 32) return of_32;
    if (dtype.bits == 64) return of_64;
    return std::nullopt;
  };
  using Code = nb::dlpack::dtype_code;
  switch (static_cast<Code>(dtype.code)) {
    case Code::Int:
      return by_bits(Dtype::i8, Dtype::i16, Dtype::i32, Dtype::i64);
    case Code::UInt:
      return by_bits(Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64);
    case Code::Float:
      if (dtype.bits == 8) return std::nullopt;
      return by_bits({}, Dtype::f16, Dtype::f32, Dtype::f64);
    case Code::Bfloat:
      if (dtype.bits == 16) return Dtype::bf16;
      return std::nullopt;
    case Code::Complex:
      if (dtype.bits == 64) return Dtype::c64;
      if (dtype.bits == 128) return Dtype::c128;
      return std::nullopt;
    case Code::Bool:
      if (dtype.bits == 8) return Dtype::boolean;
      return std::nullopt;
    default:
      break;
  }
  // Of DLPack 1.1: kDLFloat8_e4m3fn and kDLFloat8_e5m2.
  if (dtype.code == 10) return Dtype::f8e4m3;
  if (dtype.code == 12) return Dtype::f8e5m2;
  return std::nullopt;
}

/// What NumPy has by the package ml_dtypes, and what packages do not pass by DLPack: the bits that represent
/// for it.
std::optional<std::pair<Dtype, nb::object>> bits_of(const nb::handle& array) {
  if (!nb::hasattr(array, "dtype") || !nb::hasattr(array, "view")) return std::nullopt;
  const nb::object dtype = array.attr("dtype");
  auto name = nb::cast<std::string>(dtype.attr("__str__")());
  const bool torch = name.starts_with("torch.");
  if (torch) name.erase(0, 6);
  for (const Dtype small : {Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2}) {
    if (name != numpy_name(small)) continue;
    const char* const bits = small == Dtype::bf16 ? "uint16" : "uint8";
    const nb::object wanted = torch ? nb::module_::import_("torch").attr(bits) : nb::object(nb::str(bits));
    return std::pair{small, array.attr("view")(wanted)};
  }
  return std::nullopt;
}

View view_of(std::string_view what, const nb::ndarray<nb::ro>& array) {
  const std::optional<Dtype> dtype = dtype_of(array.dtype());
  if (!dtype) throw ArgumentError(std::string(what) + ": its elements are of no dtype that Partita has");
  if (array.ndim() > max_dimensions)
    throw ArgumentError(std::string(what) + ": " + std::to_string(array.ndim()) + " dimensions; at most 8");
  View view{const_cast<void*>(array.data()), *dtype, {}, {}, MemorySpace::host};
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    view.extents.push_back(static_cast<std::int64_t>(array.shape(i)));
    view.strides.push_back(array.stride(i));
  }
  const int device = array.device_type();
  if (device == nb::device::cuda::value || device == nb::device::cuda_managed::value)
    view.space = MemorySpace::device;
  else if (device != nb::device::cpu::value && device != nb::device::cuda_host::value)
    throw ArgumentError(std::string(what) + ": its device is not a CUDA device");
  return view;
}

/// Of one element in native order, as the struct module writes it; nothing: some other one.
std::optional<Dtype> dtype_of_format(const char* format, Py_ssize_t bytes) {
  const bool complex = format[0] == 'Z';
  const char letter = complex ? format[1] : format[0];
  if (letter == 0 || format[complex ? 2 : 1] != 0) return std::nullopt;
  const auto among = [&](std::string_view letters) { return letters.find(letter) != std::string_view::npos; };
  nb::dlpack::dtype_code code{};
  if (complex) {
    code = nb::dlpack::dtype_code::Complex;
  } else if (letter == '?') {
    code = nb::dlpack::dtype_code::Bool;
  } else if (among("bhilq")) {
    code = nb::dlpack::dtype_code::Int;
  } else if (among("BHILQ")) {
    code = nb::dlpack::dtype_code::UInt;
  } else if (among("efd")) {
    code = nb::dlpack::dtype_code::Float;
  } else {
    return std::nullopt;
  }
  return dtype_of({static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bytes * 8), 1});
}

nb::handle numpy_array_class;  // never freed: its module is, when the interpreter ends

/// An array of NumPy's own class, in a third of the time that DLPack takes. Nothing: another one, or one that
/// has to be looked at closely.
std::optional<View> view_of_numpy(const nb::handle& array, bool& read_only) {
  if (!array.type().is(numpy_array_class)) return std::nullopt;
  Py_buffer buffer{};
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  // The array keeps its memory, and cannot be resized while it is referred to.
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> release(&buffer, &PyBuffer_Release);
  const std::optional<Dtype> dtype = dtype_of_format(buffer.format, buffer.itemsize);
  if (!dtype || buffer.ndim > max_dimensions) return std::nullopt;
  View view{buffer.buf, *dtype, {}, {}, MemorySpace::host};
  for (int i = 0; i < buffer.ndim; ++i) {
    if (buffer.strides[i] % buffer.itemsize != 0) return std::nullopt;
    view.extents.push_back(static_cast<std::int64_t>(buffer.shape[i]));
    view.strides.push_back(buffer.strides[i] / buffer.itemsize);
  }
  read_only = buffer.readonly != 0;
  return view;
}

/// Version 3: https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html.
View view_of_cuda(std::string_view what, const nb::dict& interface, bool& read_only) {
  const auto text = nb::cast<std::string>(interface["typestr"]);
  const nb::object dtype = nb::module_::import_("numpy").attr("dtype")(text);
  const auto place = nb::cast<std::pair<std::uintptr_t, bool>>(interface["data"]);
  View view{};
  view.data = reinterpret_cast<void*>(place.first);
  view.dtype = parse_dtype(nb::cast<std::string>(dtype.attr("name")));
  view.extents = nb::cast<Extents>(interface["shape"]);
  view.strides = dense_strides(view.extents);
  view.space = MemorySpace::device;
  read_only = place.second;
  if (!interface.contains("strides") || interface["strides"].is_none()) return view;
  view.strides = nb::cast<Extents>(interface["strides"]);
  const std::int64_t bytes = size_of(view.dtype);
  for (std::int64_t& stride : view.strides) {
    if (stride % bytes != 0) throw ArgumentError(std::string(what) + ": strides that are no whole elements");
    stride /= bytes;
  }
  return view;
}

/// JAX's, which must not be written, and whose DLPack does not say so.
bool is_immutable(const nb::handle& array) {
  const nb::object module = nb::getattr(array.type(), "__module__", nb::none());
  if (!nb::isinstance<nb::str>(module)) return false;
  const std::string_view name = nb::borrow<nb::str>(module).c_str();
  return name.starts_with("jaxlib") || name == "jax" || name.starts_with("jax.");
}

/// What is written of one is read of another: what comes of that depends on the order.
bool elements_share_memory(const View& view) {
  if (volume(view.extents) == 0) return false;
  for (int d = 0; d < view.extents.size(); ++d) {
    if (view.extents[d] > 1 && view.strides[d] == 0) return true;
  }
  return false;
}

/// NumPy's, whose masks would be lost: what they hide has no value.
bool is_masked(const nb::handle& array) {
  return nb::hasattr(array, "mask") && nb::hasattr(array, "fill_value");
}

/// Of what has the buffer protocol alone, a memoryview: not all exporters say strides (ctypes), which views
/// always do.
nb::object exporter_of(const nb::handle& array) {
  if (PyObject_CheckBuffer(array.ptr()) == 0 || nb::hasattr(array, "__dlpack__")) return nb::borrow(array);
  nb::object view = nb::steal(PyMemoryView_FromObject(array.ptr()));
  if (view.is_valid()) return view;
  PyErr_Clear();
  return nb::borrow(array);
}

}  // namespace

void find_numpy() {
  numpy_array_class = nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
}

Memory::Memory(std::string_view what, const nb::handle& array, bool writable)
    : array_(nb::borrow<nb::object>(array)) {
  if (const std::optional<View> tensor = view_of_tensor(what, array)) {
    view_ = *tensor;
  } else if (const std::optional<View> plain = view_of_numpy(array, read_only_)) {
    view_ = *plain;
  } else {
    find(what, array);
  }
  if (view_.data == nullptr && volume(view_.extents) > 0)
    throw ArgumentError(std::string(what) + ": the " + nb::cast<std::string>(array.type().attr("__name__")) +
                        " has no memory (of a DTensor to_local() has this rank's part)");
  const bool shared = elements_share_memory(view_);
  read_only_ = read_only_ || shared;
  if (writable && read_only_)
    throw ArgumentError(std::string(what) + (shared ? ": overlapping elements (a stride of 0) are read-only"
                                                    : ": the array is read-only"));
}

void Memory::find(std::string_view what, const nb::handle& array) {
  if (is_masked(array))
    throw nb::type_error((std::string(what) +
                          ": masked arrays are not supported: replace the masked elements "
                          "with .filled(...)")
                             .c_str());
  hold(exporter_of(array));
  std::optional<std::pair<Dtype, nb::object>> bits;
  if (!held_.is_valid() && (bits = bits_of(array))) hold(bits->second);
  if (held_.is_valid()) {
    view_ = view_of(what, held_);
    if (bits) view_.dtype = bits->first;
  } else if (nb::hasattr(array, "__cuda_array_interface__")) {
    view_ = view_of_cuda(what, nb::cast<nb::dict>(array.attr("__cuda_array_interface__")), read_only_);
  } else {
    auto type = nb::cast<std::string>(array.type().attr("__name__"));
    if (nb::hasattr(array, "dtype")) {
      type += " of dtype " + nb::cast<std::string>(array.attr("dtype").attr("__str__")());
      type += " (numbers in this machine's byte order are taken, at strides of whole elements)";
    }
    throw nb::type_error((std::string(what) +
                          ": expected an array of NumPy, CuPy, PyTorch, ... with DLPack, the "
                          "buffer protocol or __cuda_array_interface__, got " +
                          type)
                             .c_str());
  }
  read_only_ = read_only_ || is_immutable(array);
}

void Memory::hold(const nb::handle& array) {
  nb::ndarray<> found;
  if (nb::try_cast(array, found, false)) {
    held_ = nb::ndarray<nb::ro>(found);
  } else {
    read_only_ = nb::try_cast(array, held_, false);
  }
}

Dict interface_of(const View& view) {
  constexpr const char* types[dtype_count] = {"|b1", "|i1", "|u1", "<i2", "<u2", "<i4",  "<u4", "<i8", "<u8",
                                              "<f2", "<u2", "<f4", "<f8", "<c8", "<c16", "|u1", "|u1"};
  Strides bytes = view.strides;
  for (std::int64_t& stride : bytes) stride *= size_of(view.dtype);
  Dict interface;
  interface["version"] = 3;
  interface["typestr"] = types[static_cast<int>(view.dtype)];
  interface["shape"] = view.extents;
  interface["strides"] = bytes;
  interface["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.data), false);
  return interface;
}

std::shared_ptr<void> Memory::owner() const {
  // Of a tensor, too, the object itself is enough: it keeps what it exports.
  PyObject* const kept = nb::object(array_).release().ptr();
  return {kept, [](void* object) {
            if (Py_IsInitialized() == 0) return;  // at the end of the process, counts do not matter
            const nb::gil_scoped_acquire lock;
            Py_DECREF(static_cast<PyObject*>(object));
          }};
}

}  // namespace partita::python
