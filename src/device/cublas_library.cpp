#include "device/cublas_library.hpp"

#include "base/opened_library.hpp"

namespace partita {
namespace devices {
namespace {

/// From 12 on sizes have 64 bits. Where NVIDIA's packages for Python have it: of CUDA 13 all is in one
/// folder.
constexpr std::array cublas_names{PackagedLibrary{"libcublas.so.13", "cu13"},
                                  PackagedLibrary{"libcublas.so.12", "cublas"}};

/// Stays open: its kernels do.
void find_cublas(CublasLibrary& library) {
  const char* name = nullptr;
  void* const handle = open_first_library(cublas_names, name);
  find_symbol(handle, name, "cublasGetProperty", library.get_property);
  find_symbol(handle, name, "cublasCreate_v2", library.create);
  find_symbol(handle, name, "cublasDestroy_v2", library.destroy);
  find_symbol(handle, name, "cublasSetStream_v2", library.set_stream);
  find_symbol(handle, name, "cublasSetWorkspace_v2", library.set_workspace);
  find_symbol(handle, name, "cublasGetStatusString", library.status_string);
  find_symbol(handle, name, "cublasGemmStridedBatchedEx_64", library.gemm);
  constexpr std::array trsm{"cublasStrsm_v2_64", "cublasDtrsm_v2_64", "cublasCtrsm_v2_64",
                            "cublasZtrsm_v2_64"};
  for (std::size_t i = 0; i < trsm.size(); ++i) find_symbol(handle, name, trsm.at(i), library.trsm.at(i));
  std::array<int, 3> parts{};
  for (int i = 0; i < 3; ++i) (void)library.get_property(i, &parts[static_cast<std::size_t>(i)]);
  library.version = parts[0] * 10000 + parts[1] * 100 + parts[2];
  library.path = path_of_library(reinterpret_cast<void*>(library.create));
}

}  // namespace

const CublasLibrary& CublasLibrary::of_process() {
  static const auto library = open_or_say_why(find_cublas);
  return library;
}

}  // namespace devices

LibraryReport report_cublas() {
  return static_cast<const LibraryReport&>(devices::CublasLibrary::of_process());
}

}  // namespace partita
