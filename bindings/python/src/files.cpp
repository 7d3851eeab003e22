// .npy and HDF5.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>

#include <partita/io.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "choices.hpp"

namespace partita::python {

/// Names of files are bytes: of a str its own in the file system's encoding, whatever they are.
struct FilePath {
  std::string name;
};

/// A text in a file, which need not be UTF-8: what is not becomes what h5py makes of it.
inline nb::object text_of_file(const std::string& text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

}  // namespace partita::python

namespace nanobind::detail {

template <>
struct type_caster<partita::python::FilePath> {
  NB_TYPE_CASTER(partita::python::FilePath, const_name("str | bytes"))

  bool from_python(handle source, uint8_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    const object bytes =
        PyUnicode_Check(source.ptr()) != 0 ? steal(PyUnicode_EncodeFSDefault(source.ptr())) : borrow(source);
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (!bytes.is_valid() || PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) {
      PyErr_Clear();
      return false;
    }
    value.name.assign(data, static_cast<std::size_t>(size));
    return true;
  }
  // None is given back.
};

template <>
struct type_caster<partita::Hdf5Attribute> {
  using Kinds = make_caster<partita::Hdf5Value>;
  NB_TYPE_CASTER(partita::Hdf5Attribute, Kinds::Name)

  bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
    Kinds found;
    if (!found.from_python(source, flags, cleanup)) return false;
    value = partita::Hdf5Attribute(static_cast<partita::Hdf5Value&&>(found));
    return true;
  }
  static handle from_cpp(const partita::Hdf5Attribute& attribute, rv_policy policy,
                         cleanup_list* cleanup) noexcept {
    if (const auto* text = std::get_if<std::string>(&attribute))
      return partita::python::text_of_file(*text).release();
    return Kinds::from_cpp(static_cast<const partita::Hdf5Value&>(attribute), policy, cleanup);
  }
};

}  // namespace nanobind::detail

namespace partita::python {

namespace {

/// shape, dtype, order
Tuple told(const FileHeader& header) {
  return nb::make_tuple(header.shape, header.dtype, header.order == Order::row_major ? "C" : "F");
}

void bind_hdf5(nb::module_& module) {
  module.def("inspect_hdf5", [](const FilePath& path, const std::string& dataset) {
    return told(unlocked([&] { return inspect_hdf5(path.name, dataset); }));
  });
  module.def(
      "read_hdf5",
      [](const Context& context, const FilePath& path, const std::string& dataset,
         const Distribution& distribution, const std::string& order, const Words& space) {
        const ArrayOptions options = lying(order, true, space);
        const SourcePlace where = caller();
        return unlocked([&] { return read_hdf5(context, path.name, dataset, distribution, options, where); });
      },
      nb::arg("context"), nb::arg("path"), nb::arg("dataset"), nb::arg("distribution"),
      nb::arg("order") = "C", nb::arg("space") = nb::none());
  nb::class_<Hdf5Dataset>(module, "Hdf5Dataset")
      .def(
          "__init__",
          [](Hdf5Dataset* self, const std::string& name, const Array& array, bool truncate,
             const Extents& chunks, int compression, bool shuffle, const Hdf5Attributes& attributes) {
            new (self) Hdf5Dataset{name, array, {truncate, chunks, compression, shuffle, attributes}};
          },
          nb::arg("name"), nb::arg("array"), nb::arg("truncate"), nb::arg("chunks"), nb::arg("compression"),
          nb::arg("shuffle"), nb::arg("attributes"));
  module.def(
      "write_hdf5",
      [](const FilePath& path, const std::vector<Hdf5Dataset>& datasets) { write_hdf5(path.name, datasets); },
      nb::arg("path"), nb::arg("datasets"), Unlocked());
  module.def("list_hdf5", [](const FilePath& path) {
    List entries;
    for (const Hdf5Entry& entry : unlocked([&] { return list_hdf5(path.name); }))
      entries.append(nb::make_tuple(text_of_file(entry.name),
                                    entry.header ? nb::object(told(*entry.header)) : nb::none(),
                                    entry.chunks));
    return entries;
  });
  nb::class_<Hdf5Unread>(module, "Hdf5Unread",
                         "An attribute that is listed and not read: `what` says what it is.")
      .def_ro("what", &Hdf5Unread::what)
      .def("__repr__", [](const Hdf5Unread& self) { return "<partita.io.Unread: " + self.what + ">"; });
  module.def(
      "read_hdf5_attributes",
      [](const FilePath& path, const std::string& object) { return read_hdf5_attributes(path.name, object); },
      nb::arg("path"), nb::arg("object"), Unlocked());
  module.def(
      "write_hdf5_attributes",
      [](const Context& context, const FilePath& path, const std::string& object,
         const Hdf5Attributes& attributes) { write_hdf5_attributes(context, path.name, object, attributes); },
      nb::arg("context"), nb::arg("path"), nb::arg("object"), nb::arg("attributes"), Unlocked());
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def("inspect_npy",
             [](const FilePath& path) { return told(unlocked([&] { return inspect_npy(path.name); })); });
  module.def(
      "read_npy",
      [](const Context& context, const FilePath& path, const Distribution& distribution,
         const std::string& order, const Words& space) {
        const ArrayOptions options = lying(order, true, space);
        const SourcePlace where = caller();
        return unlocked([&] { return read_npy(context, path.name, distribution, options, where); });
      },
      nb::arg("context"), nb::arg("path"), nb::arg("distribution"), nb::arg("order") = "C",
      nb::arg("space") = nb::none());
  module.def(
      "write_npy",
      [](const FilePath& path, const Array& array, const std::string& order) {
        write_npy(path.name, array, named("order", order, orders));
      },
      Unlocked());
  bind_hdf5(module);
}

}  // namespace partita::python
