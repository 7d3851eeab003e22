#include "device/cublas_lt_library.hpp"

#include "base/opened_library.hpp"

namespace partita {
namespace devices {
namespace {

/// cuBLAS comes with it, and is built upon it.
constexpr std::array cublas_lt_names{PackagedLibrary{"libcublasLt.so.13", "cu13"},
                                     PackagedLibrary{"libcublasLt.so.12", "cublas"}};

/// Stays open: its kernels do.
void find_cublas_lt(CublasLtLibrary& library) {
  const char* name = nullptr;
  void* const handle = open_first_library(cublas_lt_names, name);
  find_symbol(handle, name, "cublasLtGetProperty", library.get_property);
  find_symbol(handle, name, "cublasLtCreate", library.create);
  find_symbol(handle, name, "cublasLtDestroy", library.destroy);
  find_symbol(handle, name, "cublasLtGetStatusString", library.status_string);
  find_symbol(handle, name, "cublasLtMatmulDescCreate", library.make_product);
  find_symbol(handle, name, "cublasLtMatmulDescDestroy", library.destroy_product);
  find_symbol(handle, name, "cublasLtMatmulDescSetAttribute", library.set_product);
  find_symbol(handle, name, "cublasLtMatrixLayoutCreate", library.make_matrix);
  find_symbol(handle, name, "cublasLtMatrixLayoutDestroy", library.destroy_matrix);
  find_symbol(handle, name, "cublasLtMatrixLayoutSetAttribute", library.set_matrix);
  find_symbol(handle, name, "cublasLtMatmulPreferenceCreate", library.make_preference);
  find_symbol(handle, name, "cublasLtMatmulPreferenceDestroy", library.destroy_preference);
  find_symbol(handle, name, "cublasLtMatmulPreferenceSetAttribute", library.set_preference);
  find_symbol(handle, name, "cublasLtMatmulAlgoGetHeuristic", library.ask);
  find_symbol(handle, name, "cublasLtMatmulAlgoCheck", library.check);
  find_symbol(handle, name, "cublasLtMatmul", library.multiply);
  std::array<int, 3> parts{};
  for (int i = 0; i < 3; ++i) (void)library.get_property(i, &parts[static_cast<std::size_t>(i)]);
  library.version = parts[0] * 10000 + parts[1] * 100 + parts[2];
  library.path = path_of_library(reinterpret_cast<void*>(library.create));
}

}  // namespace

const CublasLtLibrary& CublasLtLibrary::of_process() {
  static const auto library = open_or_say_why(find_cublas_lt);
  return library;
}

}  // namespace devices

LibraryReport report_cublas_lt() {
  return static_cast<const LibraryReport&>(devices::CublasLtLibrary::of_process());
}

}  // namespace partita
