// .npy and HDF5.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>

#include <partita/io.hpp>

#include "binding.hpp"
#include "callers.hpp"
#include "casters.hpp"
#include "choices.hpp"

namespace partita::python {

namespace {

/// shape, dtype, order
Tuple told(const FileHeader& header) {
  return nb::make_tuple(header.shape, header.dtype, header.order == Order::row_major ? "C" : "F");
}

void bind_hdf5(nb::module_& module) {
  module.def("inspect_hdf5", [](const std::string& path, const std::string& dataset) {
    return told(unlocked([&] { return inspect_hdf5(path, dataset); }));
  });
  module.def(
      "read_hdf5",
      [](const Context& context, const std::string& path, const std::string& dataset,
         const Distribution& distribution, const std::string& order, const Words& space) {
        const ArrayOptions options = lying(order, true, space);
        const SourcePlace where = caller();
        return unlocked([&] { return read_hdf5(context, path, dataset, distribution, options, where); });
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
      [](const std::string& path, const std::vector<Hdf5Dataset>& datasets) { write_hdf5(path, datasets); },
      nb::arg("path"), nb::arg("datasets"), Unlocked());
  module.def("list_hdf5", [](const std::string& path) {
    List entries;
    for (const Hdf5Entry& entry : unlocked([&] { return list_hdf5(path); }))
      entries.append(nb::make_tuple(entry.name, entry.header ? nb::object(told(*entry.header)) : nb::none(),
                                    entry.chunks));
    return entries;
  });
  module.def("read_hdf5_attributes", &read_hdf5_attributes, Unlocked());
  module.def("write_hdf5_attributes", &write_hdf5_attributes, nb::arg("context"), nb::arg("path"),
             nb::arg("object"), nb::arg("attributes"), Unlocked());
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def("inspect_npy",
             [](const std::string& path) { return told(unlocked([&] { return inspect_npy(path); })); });
  module.def(
      "read_npy",
      [](const Context& context, const std::string& path, const Distribution& distribution,
         const std::string& order, const Words& space) {
        const ArrayOptions options = lying(order, true, space);
        const SourcePlace where = caller();
        return unlocked([&] { return read_npy(context, path, distribution, options, where); });
      },
      nb::arg("context"), nb::arg("path"), nb::arg("distribution"), nb::arg("order") = "C",
      nb::arg("space") = nb::none());
  module.def(
      "write_npy",
      [](const std::string& path, const Array& array, const std::string& order) {
        write_npy(path, array, named("order", order, orders));
      },
      Unlocked());
  bind_hdf5(module);
}

}  // namespace partita::python
