#include "xla_device.hpp"

#include <dlfcn.h>

namespace partita::python::xla {

namespace {

/// Functions of CUDA's driver, which XLA has loaded: the module needs no CUDA to be built. A stream belongs
/// to a CUDA context, and that to a device.
struct Driver {
  int (*context_of)(void* stream, void** context) = nullptr;
  int (*push)(void* context) = nullptr;
  int (*current_device)(int* device) = nullptr;
  int (*pop)(void** context) = nullptr;
  bool is_here = false;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Loaded in this process, or not opened at all.
Driver found_driver() {
  Driver driver;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  driver.is_here = library != nullptr && find(library, "cuStreamGetCtx", driver.context_of) &&
                   find(library, "cuCtxPushCurrent_v2", driver.push) &&
                   find(library, "cuCtxGetDevice", driver.current_device) &&
                   find(library, "cuCtxPopCurrent_v2", driver.pop);
  return driver;
}

}  // namespace

std::optional<int> device_of_cuda_stream(void* stream) {
  static const Driver driver = found_driver();  // XLA runs on a GPU by now
  void* context = nullptr;
  if (!driver.is_here || driver.context_of(stream, &context) != 0 || driver.push(context) != 0) return {};
  int device = -1;
  const bool is_known = driver.current_device(&device) == 0;
  driver.pop(&context);
  return is_known ? std::optional<int>(device) : std::nullopt;
}

}  // namespace partita::python::xla
