#include "io/hdf5_handle.hpp"

#include "base/check.hpp"

namespace partita {
namespace {

// The innermost entry of the error stack says what went wrong.
herr_t keep_description(unsigned /*depth*/, const H5E_error2_t* entry, void* reason) {
  if (entry->desc != nullptr) *static_cast<std::string*>(reason) = entry->desc;
  return 0;
}

[[noreturn]] void refuse(const std::string& path, const char* what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_description, &reason);
  std::string innermost;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_description, &innermost);
  throw FileError(fmt::format("{}: {}: {}", path, what, innermost.empty() ? reason : innermost));
}

}  // namespace

std::unique_lock<std::mutex> lock_hdf5() {
  static std::mutex mutex;
  std::unique_lock lock(mutex);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // of this thread: a library never prints
  return lock;
}

Hdf5Handle::Hdf5Handle(hid_t id, Close close, const std::string& path, const char* what)
    : id_(id), close_(close) {
  if (id < 0) refuse(path, what);
}

void check_hdf5(herr_t status, const std::string& path, const char* what) {
  if (status < 0) refuse(path, what);
}

}  // namespace partita
