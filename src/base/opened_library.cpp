#include "base/opened_library.hpp"

#include <fnmatch.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <system_error>
#include <vector>

#include "base/environment_variable.hpp"

namespace partita {
namespace {

namespace fs = std::filesystem;

std::string setting(const char* name) {
  return std::string(environment_variable(name));
}

std::vector<fs::path> folders_of(const std::string& list) {
  std::vector<fs::path> folders;
  std::istringstream rest(list);
  for (std::string folder; std::getline(rest, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return folders;
}

/// What `bin/python3` belongs to: its own folder's, not that of the program it may be a link to, for it may
/// be that of an environment.
fs::path prefix_of_python() {
  std::error_code ignored;
  for (const fs::path& folder : folders_of(setting("PATH"))) {
    if (fs::exists(folder / "python3", ignored)) return folder.parent_path();
  }
  return {};
}

/// PREFIX/lib/python3.12/site-packages, and as Debian calls them.
void add_packages_below(const fs::path& prefix, std::vector<fs::path>& folders) {
  if (prefix.empty()) return;
  for (const char* const libraries : {"lib", "lib64", "local/lib"}) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(prefix / libraries, ignored)) {
      if (!entry.path().filename().string().starts_with("python3")) continue;
      folders.push_back(entry.path() / "site-packages");
      folders.push_back(entry.path() / "dist-packages");
    }
  }
}

/// This library's file, as the loader found it: links are not resolved, because a package may consist of
/// links into a cache.
std::string own_file() {
  Dl_info information{};
  const auto* const function = reinterpret_cast<void*>(&own_file);
  return dladdr(function, &information) == 0 ? "" : information.dli_fname;
}

}  // namespace

void* open_first_library(std::span<const PackagedLibrary> libraries, const char*& file) {
  for (const PackagedLibrary& library : libraries) {
    file = library.file;
    try {
      return open_library_or_package(library.file, library.package);
    } catch (const UnsupportedError&) {
      if (&library == &libraries.back()) throw;
    }
  }
  return nullptr;
}

void* open_library(const std::string& name, std::string_view refusal) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const char* const why = dlerror();
  throw UnsupportedError(fmt::format(fmt::runtime(refusal), why == nullptr ? name.c_str() : why));
}

void* open_library_or_file(const std::string& name, std::span<const char* const> files,
                           std::string_view refusal) {
  try {
    return open_library(name, refusal);
  } catch (const UnsupportedError&) {
    for (const char* const file : files) {
      const std::string path = find_in_python_packages(file);
      void* const handle = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle != nullptr) return handle;
    }
    throw;
  }
}

void* open_library_or_package(const std::string& name, const std::string& package) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const std::string path = find_in_python_packages("nvidia/" + package + "/lib/" + name);
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

std::string find_in_python_packages(const std::string& place) {
  std::vector<fs::path> folders;
  if (const std::string own = folder_of_packages(own_file()); !own.empty()) folders.emplace_back(own);
  for (const fs::path& folder : folders_of(setting("PYTHONPATH"))) folders.push_back(folder);
  add_packages_below(setting("VIRTUAL_ENV"), folders);
  add_packages_below(setting("CONDA_PREFIX"), folders);
  add_packages_below(prefix_of_python(), folders);
  const std::string home = setting("HOME");
  if (!home.empty()) add_packages_below(fs::path(home) / ".local", folders);
  const fs::path relative(place);
  for (const fs::path& folder : folders) {
    std::string found = find_in_folder(folder / relative.parent_path(), relative.filename());
    if (!found.empty()) return found;
  }
  return "";
}

std::string find_in_folder(const std::string& folder, const std::string& pattern) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (fnmatch(pattern.c_str(), entry.path().filename().c_str(), 0) == 0) return entry.path();
  }
  return "";
}

std::string folder_of_packages(const std::string& file) {
  for (fs::path folder = fs::path(file).lexically_normal().parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (folder.filename().string().ends_with("-packages")) return folder.string();
  }
  return "";
}

}  // namespace partita
