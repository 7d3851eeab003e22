#include "base/opened_library.hpp"

#include "base/python_packages.hpp"

namespace partita {

void* open_library_or_package(const std::string& name, const std::string& package) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const std::string path = find_in_python_packages(package + "/lib/" + name);
  check<UnsupportedError>(!path.empty(), "{} is not found", name);
  void* const found = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  check<UnsupportedError>(found != nullptr, "{} cannot be opened", path);
  return found;
}

std::string path_of_library(void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 ? info.dli_fname : "";
}

}  // namespace partita
