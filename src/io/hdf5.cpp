#include <algorithm>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "io/array_file.hpp"
#include "io/hdf5_library.hpp"

namespace partita {
namespace {

using namespace io;

/// A dataset opened for reading.
struct Dataset {
  Hdf5Handle file;
  Hdf5Handle dataset;
  Hdf5Handle space;
};

Dataset open_dataset(const std::string& path, const std::string& name) {
  check<FileError>(H5Fis_hdf5(path.c_str()) > 0, "{}: missing, or not an HDF5 file", path);
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, path,
                  "cannot open the HDF5 file");
  Hdf5Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, path, "cannot open the dataset");
  Hdf5Handle space(H5Dget_space(dataset), H5Sclose, path, "cannot read the shape");
  return {std::move(file), std::move(dataset), std::move(space)};
}

Hdf5Handle element_type(const Dataset& opened, const std::string& path) {
  return {H5Dget_type(opened.dataset), H5Tclose, path, "cannot read the element type"};
}

FileHeader header_of(const Dataset& opened, const std::string& path) {
  check<FileError>(H5Sget_simple_extent_type(opened.space) != H5S_NULL,
                   "{}: the dataset is empty (H5S_NULL): it has no shape, so it is not an array", path);
  const int dimensions = H5Sget_simple_extent_ndims(opened.space);
  check<FileError>(dimensions >= 0 && dimensions <= max_dimensions,
                   "{}: a dataset of {} dimensions; at most {}", path, dimensions, max_dimensions);
  std::array<hsize_t, max_dimensions> extents{};
  H5Sget_simple_extent_dims(opened.space, extents.data(), nullptr);
  FileHeader header;
  for (int i = 0; i < dimensions; ++i) {
    header.shape.push_back(static_cast<std::int64_t>(extents[static_cast<std::size_t>(i)]));
  }
  header.dtype = dtype_of_hdf5(element_type(opened, path), path);
  (void)bytes_of(header, path);
  return header;
}

/// Whole rows: elements first .. first + elements are the indices [a, b) of the slab's axis, all of the
/// others.
void read_rows(const std::string& path, const std::string& name, std::int64_t first, std::int64_t elements,
               void* data) {
  const auto lock = lock_hdf5();
  const Dataset opened = open_dataset(path, name);
  const FileHeader header = header_of(opened, path);
  const Hdf5Handle type = hdf5_memory_type(element_type(opened, path), header.dtype, path);
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

/// Throws FileError where the file system has no room. HDF5 does not survive a disk that fills while it
/// works: a file that it cannot close crashes it when the process exits.
void check_room(const std::string& path, std::int64_t bytes) {
  constexpr std::int64_t metadata = std::int64_t{1} << 16;
  File::open_to_write(path).reserve(bytes + metadata);
}

/// Fills the empty file with its dataset, contiguous and allocated, and returns where its first element lies:
/// from there on the ranks write with plain system calls, all at once, without a parallel HDF5.
std::int64_t create_file(const std::string& path, const std::string& name, const Shape& shape, Dtype dtype) {
  const auto lock = lock_hdf5();
  const Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, path,
                        "cannot create the HDF5 file");
  std::array<hsize_t, max_dimensions> extents{};
  std::copy(shape.begin(), shape.end(), extents.begin());
  const Hdf5Handle space(
      shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(shape.size(), extents.data(), nullptr),
      H5Sclose, path, "cannot describe the shape");
  const Hdf5Handle groups(H5Pcreate(H5P_LINK_CREATE), H5Pclose, path, "cannot create groups");
  H5Pset_create_intermediate_group(groups, 1);
  const Hdf5Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, path, "cannot describe the dataset");
  H5Pset_layout(layout, H5D_CONTIGUOUS);
  H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER);
  const Hdf5Handle type = hdf5_type(dtype, path);
  const Hdf5Handle dataset(H5Dcreate2(file, name.c_str(), type, space, groups, layout, H5P_DEFAULT), H5Dclose,
                           path, "cannot create the dataset");
  const haddr_t offset = H5Dget_offset(dataset);
  check<FileError>(offset != HADDR_UNDEF || volume(shape) == 0,
                   "{}: HDF5 does not say where the dataset lies", path);
  return offset == HADDR_UNDEF ? 0 : static_cast<std::int64_t>(offset);
}

}  // namespace

FileHeader inspect_hdf5(const std::string& path, const std::string& dataset) {
  const auto lock = lock_hdf5();
  return header_of(open_dataset(path, dataset), path);
}

Array read_hdf5(const Context& context, const std::string& path, const std::string& dataset,
                const Distribution& distribution, const ArrayOptions& options, SourcePlace where) {
  const auto inspect = [&] { return inspect_hdf5(path, dataset); };
  const auto read = [&](std::int64_t first, std::int64_t elements, void* data) {
    read_rows(path, dataset, first, elements, data);
  };
  return read_as_slab(context, path, distribution, options, {"read_hdf5", inspect, read}, where);
}

void write_hdf5(const std::string& path, const std::string& dataset, const Array& array) {
  array.context_state()->require_usable("write_hdf5");
  const Array slab = as_file_slab(array, Order::row_major, "write_hdf5");
  write_whole(path, slab, "write_hdf5", [&](const OutputFile& output) {
    check<FileError>(output.regular(), "{}: an HDF5 file is not written in one go; name a regular file",
                     path);
    const std::string& temporary = output.written();
    check_room(temporary, volume(array.shape()) * size_of(array.dtype()));
    const std::int64_t first = create_file(temporary, dataset, array.shape(), array.dtype());
    File file = File::open_to_write(temporary);
    file.reserve(first + volume(array.shape()) * size_of(array.dtype()));
    file.close();
    return first;
  });
}

}  // namespace partita
