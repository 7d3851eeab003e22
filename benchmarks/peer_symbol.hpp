// Functions of peers that are opened at run time.
#pragma once

#include <dlfcn.h>

#include <partita/error.hpp>
#include <string>

namespace partita::benchmarks {

/// `library`: its name, for errors.
template <class Function>
void find_symbol(void* handle, const char* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) throw UnsupportedError(std::string(library) + " has no " + name);
}

}  // namespace partita::benchmarks
