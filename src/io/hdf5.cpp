#include <algorithm>

#include "base/check.hpp"
#include "io/array_file.hpp"
#include "io/hdf5_dataset.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

using namespace io;

/// Whole rows: elements first .. first + elements are the indices [a, b) of the slab's axis, all of the
/// others.
void read_rows(const std::string& path, const std::string& name, std::int64_t first, std::int64_t elements,
               void* data) {
  const Hdf5Lock lock;
  const Dataset opened = open_dataset(path, name);
  const FileHeader header = header_of(opened.dataset, opened.space, path);
  const Hdf5Handle type = hdf5_memory_type(element_type(opened.dataset, path), header.dtype, path);
  const int dimensions = header.shape.size();
  if (dimensions == 0) {
    check_hdf5(H5Dread(opened.dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), path,
               "cannot read the dataset");
    return;
  }
  const int axis = file_slab(header.shape, Order::row_major).axis;
  const std::int64_t row = volume(header.shape) / header.shape[axis];
  std::array<hsize_t, max_dimensions> start{};
  std::array<hsize_t, max_dimensions> count{};
  for (int i = 0; i < dimensions; ++i) {
    count[static_cast<std::size_t>(i)] = static_cast<hsize_t>(i == axis ? elements / row : header.shape[i]);
  }
  start[static_cast<std::size_t>(axis)] = static_cast<hsize_t>(first / row);
  check_hdf5(H5Sselect_hyperslab(opened.space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
             path, "cannot select a part of the dataset");
  const Hdf5Handle memory(H5Screate_simple(dimensions, count.data(), nullptr), H5Sclose, path, "cannot read");
  check_hdf5(H5Dread(opened.dataset, type, memory, opened.space, H5P_DEFAULT, data), path,
             "cannot read the dataset");
}

}  // namespace

FileHeader inspect_hdf5(const std::string& path, const std::string& dataset) {
  const Hdf5Lock lock;
  const Dataset opened = open_dataset(path, dataset);
  return header_of(opened.dataset, opened.space, path);
}

Array read_hdf5(const Context& context, const std::string& path, const std::string& dataset,
                const Distribution& distribution, const ArrayOptions& options, SourcePlace where) {
  const runtime::PublicCall call("read_hdf5");
  const auto inspect = [&] { return inspect_hdf5(path, dataset); };
  const auto read = [&](std::int64_t first, std::int64_t elements, void* data) {
    read_rows(path, dataset, first, elements, data);
  };
  const FileReader reader{"read_hdf5", inspect, read, {Fact{"dataset", dataset}}};
  return read_as_slab(context, path, distribution, options, reader, where);
}

}  // namespace partita
