#include "base/opened_library.hpp"

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

std::string find_in_python_packages(const std::string& place) {
  std::vector<fs::path> folders = folders_of(setting("PYTHONPATH"));
  add_packages_below(setting("VIRTUAL_ENV"), folders);
  add_packages_below(setting("CONDA_PREFIX"), folders);
  add_packages_below(prefix_of_python(), folders);
  const std::string home = setting("HOME");
  if (!home.empty()) add_packages_below(fs::path(home) / ".local", folders);
  for (const fs::path& folder : folders) {
    const fs::path candidate = folder / "nvidia" / place;
    std::error_code ignored;
    if (fs::exists(candidate, ignored)) return candidate.string();
  }
  return "";
}

}  // namespace partita
