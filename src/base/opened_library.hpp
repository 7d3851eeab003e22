// Libraries that are opened at run time. They stay open.
#pragma once

#include <dlfcn.h>

#include <string>

#include "base/check.hpp"

namespace partita {

/// The library of that name: where the loader looks for it, or else in NVIDIA's package `package` for Python.
/// Throws UnsupportedError.
void* open_library_or_package(const std::string& name, const std::string& package);

/// The function of that name in an opened library, which `library` names in the UnsupportedError of its
/// absence.
template <class Function>
Function symbol_of(void* handle, const char* library, const char* name) {
  void* const symbol = dlsym(handle, name);
  check<UnsupportedError>(symbol != nullptr, "{} has no {}", library, name);
  return reinterpret_cast<Function>(symbol);
}

/// The file of the library that has this function, links resolved; `otherwise` where nobody knows.
std::string path_of_library(const void* function, const char* otherwise = "");

}  // namespace partita
