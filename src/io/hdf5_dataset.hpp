// What stands in an HDF5 file: its datasets, their shapes and types. The caller holds an `Hdf5Lock`.
#pragma once

#include <partita/io.hpp>
#include <string>
#include <vector>

#include "io/hdf5_library.hpp"

namespace partita::io {

/// Throws FileError where there is no HDF5 file. `flags`: H5F_ACC_RDONLY, H5F_ACC_RDWR.
Hdf5Handle open_hdf5(const std::string& path, unsigned flags);

/// Every link behind the root: "group", "group/data". Throws FileError where the file is damaged.
std::vector<std::string> links_of(hid_t file, const std::string& path);

/// Whether this link, and all before it, are there.
bool has_link(hid_t file, const std::string& name);

/// Throws FileError that names what the file has where this is not there.
void require_link(hid_t file, const std::string& name, const std::string& path);

/// A dataset opened for reading.
struct Dataset {
  Hdf5Handle file;
  Hdf5Handle dataset;
  Hdf5Handle space;
};
Dataset open_dataset(const std::string& path, const std::string& name);

Hdf5Handle element_type(hid_t dataset, const std::string& path);

/// Throws FileError if the dataset cannot be read as an array.
FileHeader header_of(hid_t dataset, hid_t space, const std::string& path);

}  // namespace partita::io
