// HDF5 identifiers that close themselves, its errors as FileErrors, and dtypes as its types, written as h5py
// writes them, so that Python reads them without help.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <partita/dtype.hpp>
#include <string>
#include <utility>

namespace partita::io {

/// Must be held during calls of the serial HDF5 library, which is not thread-safe (ranks may be threads of
/// one process). Clears HDF5's error stack of this thread at the end: HDF5 complains at process exit about
/// threads that ended with errors on it.
class Hdf5Lock {
 public:
  Hdf5Lock();
  ~Hdf5Lock();
  Hdf5Lock(const Hdf5Lock&) = delete;
  Hdf5Lock& operator=(const Hdf5Lock&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
};

/// Owns one identifier. Creation from a negative one throws FileError: path, what was tried, HDF5's own
/// reason.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle(hid_t id, Close close, const std::string& path, const char* what);
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: an identifier is what it is

 private:
  hid_t id_;
  Close close_;
};

/// Throws FileError, as above, where a call returned a negative status.
void check_hdf5(herr_t status, const std::string& path, const char* what);

/// Halves are custom floats, booleans an enumeration of FALSE and TRUE over one byte, complex numbers a
/// compound of r and i.
Hdf5Handle hdf5_type(Dtype dtype, const std::string& path);

/// The memory type for elements of a file's type: `dtype`, with the member names of the file, because HDF5
/// matches members by name.
Hdf5Handle hdf5_memory_type(hid_t file_type, Dtype dtype, const std::string& path);

/// The dtype of a file's type of any byte order (HDF5 converts on reading). FileError where there is none.
Dtype dtype_of_hdf5(hid_t type, const std::string& path);

}  // namespace partita::io
