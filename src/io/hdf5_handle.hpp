// HDF5 identifiers that close themselves, and its errors as FileErrors.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace partita {

/// The serial HDF5 library is not thread-safe: whoever calls it holds this. (Ranks may be threads of one
/// process.)
std::unique_lock<std::mutex> lock_hdf5();

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

}  // namespace partita
