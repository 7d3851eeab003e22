// What is in an HDF5 file, and the attributes of its objects.
#include <algorithm>
#include <array>
#include <optional>

#include "base/check.hpp"
#include "io/hdf5_attributes.hpp"
#include "io/hdf5_dataset.hpp"

namespace partita {
namespace {

using namespace io;

Extents chunks_of(hid_t dataset, const std::string& path) {
  const Hdf5Handle stored(H5Dget_create_plist(dataset), H5Pclose, path,
                          "cannot read how a dataset is stored");
  Extents chunks;
  if (H5Pget_layout(stored) != H5D_CHUNKED) return chunks;
  std::array<hsize_t, max_dimensions> extents{};
  const int dimensions = H5Pget_chunk(stored, max_dimensions, extents.data());
  for (int i = 0; i < std::min(dimensions, max_dimensions); ++i) {
    chunks.push_back(static_cast<std::int64_t>(extents[static_cast<std::size_t>(i)]));
  }
  return chunks;
}

Hdf5Entry entry_of(hid_t file, const std::string& name, const std::string& path) {
  const Hdf5Handle object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose, path, "cannot open an object");
  Hdf5Entry entry{name, std::nullopt, {}};
  if (H5Iget_type(object) != H5I_DATASET) return entry;
  const Hdf5Handle space(H5Dget_space(object), H5Sclose, path, "cannot read the shape");
  try {
    entry.header = header_of(object, space, path);
    entry.chunks = chunks_of(object, path);
  } catch (const FileError&) {  // not an array: texts, say
  }
  return entry;
}

}  // namespace

std::vector<Hdf5Entry> list_hdf5(const std::string& path) {
  const Hdf5Lock lock;
  const Hdf5Handle file = open_hdf5(path, H5F_ACC_RDONLY);
  std::vector<Hdf5Entry> entries;
  for (const std::string& name : links_of(file, path)) {
    // A link may lead nowhere.
    if (H5Oexists_by_name(file, name.c_str(), H5P_DEFAULT) > 0) entries.push_back(entry_of(file, name, path));
  }
  return entries;
}

Hdf5Attributes read_hdf5_attributes(const std::string& path, const std::string& object) {
  const Hdf5Lock lock;
  const Hdf5Handle file = open_hdf5(path, H5F_ACC_RDONLY);
  require_link(file, object, path);
  const Hdf5Handle opened(H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose, path,
                          "cannot open the object");
  return read_attributes(opened, path);
}

}  // namespace partita
