#include "io/hdf5_dataset.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "io/array_file.hpp"
#include "io/file.hpp"

namespace partita::io {
namespace {

herr_t keep_link(hid_t /*group*/, const char* name, const H5L_info_t* /*link*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

/// "a, b/c and 12 more".
std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 16;
  const std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most)));
  const std::size_t more = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

Hdf5Handle open_hdf5(const std::string& path, unsigned flags) {
  (void)File::open_to_read(path).size();  // says why it cannot be read; HDF5 would wait for a pipe's writer
  check<FileError>(H5Fis_hdf5(path.c_str()) > 0, "{}: not an HDF5 file", path);
  return {H5Fopen(path.c_str(), flags, H5P_DEFAULT), H5Fclose, path, "cannot open the HDF5 file"};
}

std::vector<std::string> links_of(hid_t file, const std::string& path) {
  std::vector<std::string> names;
  check_hdf5(H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, keep_link, &names), path,
             "cannot list the contents of the file");
  return names;
}

bool has_link(hid_t file, const std::string& name) {
  // HDF5 answers for the last one alone, and only where those before it are groups.
  for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    const bool is_same_group = part.ends_with('/') || part == "." || part.ends_with("/.");
    if (!is_same_group && H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

void require_link(hid_t file, const std::string& name, const std::string& path) {
  const std::size_t end = name.find('\0');  // HDF5 does not look behind it
  check<FileError>(end == std::string::npos, "{}: the name \"{}\" contains a zero byte", path,
                   name.substr(0, end));
  if (has_link(file, name)) return;
  const std::vector<std::string> names = links_of(file, path);
  throw FileError(fmt::format("{}: there is no \"{}\"; the file has {}", path, name,
                              names.empty() ? "nothing" : first_of(names)));
}

Dataset open_dataset(const std::string& path, const std::string& name) {
  Hdf5Handle file = open_hdf5(path, H5F_ACC_RDONLY);
  require_link(file, name, path);
  {
    const Hdf5Handle object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose, path,
                            "cannot open the dataset");
    check<FileError>(H5Iget_type(object) != H5I_GROUP, "{}: \"{}\" is a group; name a dataset in it", path,
                     name);
  }
  Hdf5Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, path, "cannot open the dataset");
  Hdf5Handle space(H5Dget_space(dataset), H5Sclose, path, "cannot read the shape");
  return {std::move(file), std::move(dataset), std::move(space)};
}

Hdf5Handle element_type(hid_t dataset, const std::string& path) {
  return {H5Dget_type(dataset), H5Tclose, path, "cannot read the element type"};
}

FileHeader header_of(hid_t dataset, hid_t space, const std::string& path) {
  check<FileError>(H5Sget_simple_extent_type(space) != H5S_NULL,
                   "{}: the dataset is empty (H5S_NULL): it has no shape, so it is not an array", path);
  const int dimensions = H5Sget_simple_extent_ndims(space);
  check<FileError>(dimensions >= 0 && dimensions <= max_dimensions,
                   "{}: a dataset of {} dimensions; at most {}", path, dimensions, max_dimensions);
  std::array<hsize_t, max_dimensions> extents{};
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  FileHeader header;
  for (int i = 0; i < dimensions; ++i) {
    header.shape.push_back(static_cast<std::int64_t>(extents[static_cast<std::size_t>(i)]));
  }
  header.dtype = dtype_of_hdf5(element_type(dataset, path), path);
  (void)bytes_of(header, path);
  return header;
}

}  // namespace partita::io
