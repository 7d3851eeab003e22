// Libraries that are opened at run time. They stay open.
#pragma once

#include <dlfcn.h>

#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "base/check.hpp"

namespace partita {

/// The library of that name: where the loader looks for it, or else in NVIDIA's package `package` for Python.
/// Throws UnsupportedError.
void* open_library_or_package(const std::string& name, const std::string& package);

/// A library by its file, and NVIDIA's package for Python that may have it.
struct PackagedLibrary {
  const char* file;
  const char* package;
};
/// The first of these that is there; `file` becomes its name. Throws what the absence of the last one says.
void* open_first_library(std::span<const PackagedLibrary> libraries, const char*& file);

/// The library of that name. Throws UnsupportedError: `refusal`, with the loader's reason in place of its {}.
void* open_library(const std::string& name, std::string_view refusal);

/// The library of that name: where the loader looks for it, or else the first of these files of Python
/// packages (find_in_python_packages) that exists and can be opened. Throws as open_library does.
void* open_library_or_file(const std::string& name, std::span<const char* const> files,
                           std::string_view refusal);

/// The function of that name in an opened library, which `library` names in the UnsupportedError of its
/// absence.
template <class Function>
Function symbol_of(void* handle, const char* library, const char* name) {
  void* const symbol = dlsym(handle, name);
  check<UnsupportedError>(symbol != nullptr, "{} has no {}", library, name);
  return reinterpret_cast<Function>(symbol);
}

template <class Function>
void find_symbol(void* handle, const char* library, const std::string& name, Function& function) {
  function = symbol_of<Function>(handle, library, name.c_str());
}

/// A library (a LibraryReport and its functions) as `find` fills it in. Where that throws, nothing is there
/// but the reason.
template <class Library>
Library open_or_say_why(void (*find)(Library&)) {
  Library library;
  try {
    find(library);
  } catch (const std::exception& error) {
    library = {};
    library.why_none = error.what();
  }
  return library;
}

/// The file of the library that contains this function, with links resolved; `otherwise` if unknown.
std::string path_of_library(const void* function, const char* otherwise = "");

/// A file of an installed Python package: "nvidia/nvshmem/lib/libnvshmem_host.so.3". The part behind the last
/// slash may contain `*`: "numpy.libs/libscipy_openblas64_*.so". Searched in site-packages of: this library,
/// if it is in a Python package itself; PYTHONPATH; the active environment (VIRTUAL_ENV, CONDA_PREFIX); the
/// first python3 of PATH; the user. Empty: not found. No Python is started.
std::string find_in_python_packages(const std::string& place);

/// The first file of the folder whose name matches the pattern, where `*` matches any characters. Empty:
/// none.
std::string find_in_folder(const std::string& folder, const std::string& pattern);

/// The folder of packages that contains this file of a package: ".../site-packages". Empty: there is none.
std::string folder_of_packages(const std::string& file);

}  // namespace partita
