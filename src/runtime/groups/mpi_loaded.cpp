#include "runtime/groups/mpi_loaded.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>

#include "mpi/calls.hpp"

namespace partita::runtime {
namespace {

template <class Function>
bool find_in(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

void add(const std::optional<LoadedMpi>& mpi, std::vector<LoadedMpi>& found) {
  const auto is_it = [&mpi](const LoadedMpi& other) { return other.path == mpi->path; };
  if (mpi && std::none_of(found.begin(), found.end(), is_it)) found.push_back(*mpi);
}

int note_path(dl_phdr_info* object, std::size_t, void* paths) {
  const std::string path = object->dlpi_name;
  const std::string file = path.substr(path.rfind('/') + 1);  // the whole where there is no folder
  if (file.starts_with("libmpi")) static_cast<std::vector<std::string>*>(paths)->push_back(path);
  return 0;
}

}  // namespace

std::string first_line_of_version(const char* text) {
  std::string version(text);
  version.resize(std::min(version.size(), version.find('\n')));
  std::replace(version.begin(), version.end(), '\t', ' ');
  return version;
}

// The functions without handles among their arguments are the same in every MPI.
std::optional<LoadedMpi> mpi_of(void* handle) {
  int (*version)(char*, int*) = nullptr;
  int (*initialized)(int*) = nullptr;
  int (*finalized)(int*) = nullptr;
  Dl_info object{};
  if (!find_in(handle, "MPI_Get_library_version", version) ||
      !find_in(handle, "MPI_Initialized", initialized) || !find_in(handle, "MPI_Finalized", finalized) ||
      dladdr(reinterpret_cast<const void*>(version), &object) == 0)
    return std::nullopt;
  std::array<char, mpi::longest_text> text{};
  int length = 0, has_begun = 0, has_ended = 0;
  version(text.data(), &length);
  initialized(&has_begun);
  finalized(&has_ended);
  return LoadedMpi{object.dli_fname, first_line_of_version(text.data()), has_begun != 0 && has_ended == 0};
}

std::vector<LoadedMpi> loaded_mpis() {
  std::vector<LoadedMpi> found;
  add(mpi_of(RTLD_DEFAULT), found);
  std::vector<std::string> paths;
  dl_iterate_phdr(&note_path, &paths);
  for (const std::string& path : paths) {
    void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    add(mpi_of(handle), found);
    dlclose(handle);  // our share of it: it stays loaded
  }
  return found;
}

}  // namespace partita::runtime
