// Attributes of HDF5 objects, as h5py writes and reads them. The caller holds an `Hdf5Lock`.
#pragma once

#include <partita/io.hpp>
#include <string>

#include "io/hdf5_library.hpp"

namespace partita::io {

/// Those of a name that is there are replaced.
void write_attributes(hid_t object, const Hdf5Attributes& attributes, const std::string& path);

/// All of them.
Hdf5Attributes read_attributes(hid_t object, const std::string& path);

/// One line, so that ranks can compare what they pass.
std::string to_string(const Hdf5Attributes& attributes);

}  // namespace partita::io
