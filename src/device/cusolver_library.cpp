#include "device/cusolver_library.hpp"

#include "base/opened_library.hpp"

namespace partita {
namespace devices {
namespace {

/// Those of CUDA 13 and 12, and where NVIDIA's packages for Python have them: of CUDA 13 all is in one
/// folder.
constexpr std::array cusolver_names{PackagedLibrary{"libcusolver.so.12", "cu13"},
                                    PackagedLibrary{"libcusolver.so.11", "cusolver"}};

/// Stays open: its kernels do.
void find_cusolver(CusolverLibrary& library) {
  const char* name = nullptr;
  void* const handle = open_first_library(cusolver_names, name);
  find_symbol(handle, name, "cusolverGetProperty", library.get_property);
  find_symbol(handle, name, "cusolverDnCreate", library.create);
  find_symbol(handle, name, "cusolverDnDestroy", library.destroy);
  find_symbol(handle, name, "cusolverDnSetStream", library.set_stream);
  find_symbol(handle, name, "cusolverDnCreateParams", library.create_options);
  find_symbol(handle, name, "cusolverDnDestroyParams", library.destroy_options);
  find_symbol(handle, name, "cusolverDnXpotrf_bufferSize", library.potrf_bytes);
  find_symbol(handle, name, "cusolverDnXpotrf", library.potrf);
  find_symbol(handle, name, "cusolverDnXgetrf_bufferSize", library.getrf_bytes);
  find_symbol(handle, name, "cusolverDnXgetrf", library.getrf);
  find_symbol(handle, name, "cusolverDnXgeqrf_bufferSize", library.geqrf_bytes);
  find_symbol(handle, name, "cusolverDnXgeqrf", library.geqrf);
  find_symbol(handle, name, "cusolverDnXsyevd_bufferSize", library.syevd_bytes);
  find_symbol(handle, name, "cusolverDnXsyevd", library.syevd);
  constexpr std::array names{"Sormqr", "Dormqr", "Cunmqr", "Zunmqr"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string function = std::string("cusolverDn") + names.at(i);
    find_symbol(handle, name, function + "_bufferSize", library.multiply_by_q_size.at(i));
    find_symbol(handle, name, function, library.multiply_by_q.at(i));
  }
  library.set_mode =
      reinterpret_cast<decltype(library.set_mode)>(dlsym(handle, "cusolverDnSetDeterministicMode"));
  std::array<int, 3> parts{};
  for (int i = 0; i < 3; ++i) (void)library.get_property(i, &parts[static_cast<std::size_t>(i)]);
  library.version = parts[0] * 10000 + parts[1] * 100 + parts[2];
  library.path = path_of_library(reinterpret_cast<void*>(library.create));
}

}  // namespace

const CusolverLibrary& CusolverLibrary::of_process() {
  static const auto library = open_or_say_why(find_cusolver);
  return library;
}

}  // namespace devices

LibraryReport report_cusolver() {
  return static_cast<const LibraryReport&>(devices::CusolverLibrary::of_process());
}

}  // namespace partita
