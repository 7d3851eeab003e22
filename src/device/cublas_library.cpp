#include "device/cublas_library.hpp"

#include <array>
#include <partita/device_report.hpp>
#include <utility>

#include "base/opened_library.hpp"

namespace partita {
namespace devices {
namespace {

/// From 12 on sizes have 64 bits. Where NVIDIA's packages for Python have it: of CUDA 13 all is in one
/// folder.
constexpr std::array<std::pair<const char*, const char*>, 2> cublas_names{
    {{"libcublas.so.13", "cu13"}, {"libcublas.so.12", "cublas"}}};

void* open_any_cublas(const char*& name) {
  for (const auto& [file, package] : cublas_names) {
    name = file;
    try {
      return open_library_or_package(file, package);
    } catch (const UnsupportedError&) {
      if (file == cublas_names.back().first) throw;
    }
  }
  return nullptr;
}

/// Stays open: its kernels do.
CublasLibrary open_cublas() {
  CublasLibrary library;
  try {
    const char* name = nullptr;
    void* const handle = open_any_cublas(name);
    const auto find = [&]<class Function>(const char* symbol, Function& function) {
      function = symbol_of<Function>(handle, name, symbol);
    };
    find("cublasGetProperty", library.get_property);
    find("cublasCreate_v2", library.create);
    find("cublasDestroy_v2", library.destroy);
    find("cublasSetStream_v2", library.set_stream);
    find("cublasSetWorkspace_v2", library.set_workspace);
    find("cublasGetStatusString", library.status_string);
    find("cublasGemmStridedBatchedEx_64", library.gemm);
    std::array<int, 3> parts{};
    for (int i = 0; i < 3; ++i) (void)library.get_property(i, &parts[static_cast<std::size_t>(i)]);
    library.version = parts[0] * 10000 + parts[1] * 100 + parts[2];
    library.path = path_of_library(reinterpret_cast<void*>(library.create));
  } catch (const std::exception& error) {
    library.why_none = error.what();
  }
  return library;
}

}  // namespace

const CublasLibrary& CublasLibrary::of_process() {
  static const CublasLibrary library = open_cublas();
  return library;
}

}  // namespace devices

LibraryReport report_cublas() {
  const devices::CublasLibrary& library = devices::CublasLibrary::of_process();
  if (!library.why_none.empty()) return {0, "", library.why_none};
  return {library.version, library.path, ""};
}

}  // namespace partita
