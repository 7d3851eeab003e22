// Functions of libraries that are opened at run time.
#pragma once

#include <dlfcn.h>

#include "base/check.hpp"

namespace partita {

/// The function of that name in an opened library, which `library` names in the UnsupportedError of its
/// absence.
template <class Function>
Function symbol_of(void* handle, const char* library, const char* name) {
  void* const symbol = dlsym(handle, name);
  check<UnsupportedError>(symbol != nullptr, "{} has no {}", library, name);
  return reinterpret_cast<Function>(symbol);
}

}  // namespace partita
