#include "base/opened_library.hpp"

#include <cstdlib>
#include <memory>

#include "base/python_packages.hpp"

namespace partita {

void* open_library(const std::string& name, std::string_view refusal) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const char* const why = dlerror();
  throw UnsupportedError(fmt::format(fmt::runtime(refusal), why == nullptr ? name.c_str() : why));
}

void* open_library_or_package(const std::string& name, const std::string& package) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const std::string path = find_in_python_packages(package + "/lib/" + name);
  check<UnsupportedError>(!path.empty(), "{} is not found", name);
  void* const found = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  check<UnsupportedError>(found != nullptr, "{} cannot be opened", path);
  return found;
}

std::string path_of_library(const void* function, const char* otherwise) {
  Dl_info information{};
  if (dladdr(function, &information) == 0) return otherwise;
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(information.dli_fname, nullptr),
                                                         &std::free);
  return real ? real.get() : information.dli_fname;
}

}  // namespace partita
