// Dtypes as HDF5 types, written as h5py writes them, so that Python reads them without help.
#pragma once

#include <partita/dtype.hpp>
#include <string>

#include "io/hdf5_handle.hpp"

namespace partita {

/// Halves are custom floats, booleans an enumeration of FALSE and TRUE over one byte, complex numbers a
/// compound of r and i.
Hdf5Handle hdf5_type(Dtype dtype, const std::string& path);

/// What elements of a file's type are read into: `dtype`, its members called as in the file, since HDF5 goes
/// by names.
Hdf5Handle hdf5_memory_type(hid_t file_type, Dtype dtype, const std::string& path);

/// The dtype of a file's type of any byte order (HDF5 converts on reading). FileError where there is none.
Dtype dtype_of_hdf5(hid_t type, const std::string& path);

}  // namespace partita
