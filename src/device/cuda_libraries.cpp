// NVIDIA's mathematical libraries: those of CUDA 13 and 12, and where NVIDIA's packages for Python have them,
// which for CUDA 13 is one folder. They stay open, since their kernels do.
#include <array>

#include "base/opened_library.hpp"
#include "device/cublas_library.hpp"
#include "device/cublas_lt_library.hpp"
#include "device/cufft_library.hpp"
#include "device/cusolver_library.hpp"

namespace partita {
namespace devices {
namespace {

/// Of a library whose properties 0, 1 and 2 are the parts of its version.
template <class Library>
void find_version(Library& library) {
  std::array<int, 3> parts{};
  for (int i = 0; i < 3; ++i) (void)library.get_property(i, &parts[static_cast<std::size_t>(i)]);
  library.version = parts[0] * 10000 + parts[1] * 100 + parts[2];
  library.path = path_of_library(reinterpret_cast<void*>(library.create));
}

// From 12 on sizes have 64 bits.
constexpr std::array cublas_names{PackagedLibrary{"libcublas.so.13", "cu13"},
                                  PackagedLibrary{"libcublas.so.12", "cublas"}};

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
  find_version(library);
}

// cuBLAS comes with it, and is built upon it.
constexpr std::array cublas_lt_names{PackagedLibrary{"libcublasLt.so.13", "cu13"},
                                     PackagedLibrary{"libcublasLt.so.12", "cublas"}};

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
  find_version(library);
}

constexpr std::array cufft_names{PackagedLibrary{"libcufft.so.12", "cu13"},
                                 PackagedLibrary{"libcufft.so.11", "cufft"}};

void find_cufft(CufftLibrary& library) {
  const char* name = nullptr;
  void* const handle = open_first_library(cufft_names, name);
  find_symbol(handle, name, "cufftGetProperty", library.get_property);
  find_symbol(handle, name, "cufftCreate", library.create);
  find_symbol(handle, name, "cufftDestroy", library.destroy);
  find_symbol(handle, name, "cufftSetAutoAllocation", library.set_auto_allocation);
  find_symbol(handle, name, "cufftMakePlanMany64", library.make_plan);
  find_symbol(handle, name, "cufftSetStream", library.set_stream);
  find_symbol(handle, name, "cufftSetWorkArea", library.set_work_area);
  find_symbol(handle, name, "cufftExecC2C", library.execute_c2c);
  find_symbol(handle, name, "cufftExecR2C", library.execute_r2c);
  find_symbol(handle, name, "cufftExecC2R", library.execute_c2r);
  find_symbol(handle, name, "cufftExecZ2Z", library.execute_z2z);
  find_symbol(handle, name, "cufftExecD2Z", library.execute_d2z);
  find_symbol(handle, name, "cufftExecZ2D", library.execute_z2d);
  find_version(library);
}

constexpr std::array cusolver_names{PackagedLibrary{"libcusolver.so.12", "cu13"},
                                    PackagedLibrary{"libcusolver.so.11", "cusolver"}};

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
  find_version(library);
}

}  // namespace

const CublasLibrary& CublasLibrary::of_process() {
  static const auto library = open_or_say_why(find_cublas);
  return library;
}
const CublasLtLibrary& CublasLtLibrary::of_process() {
  static const auto library = open_or_say_why(find_cublas_lt);
  return library;
}
const CufftLibrary& CufftLibrary::of_process() {
  static const auto library = open_or_say_why(find_cufft);
  return library;
}
const CusolverLibrary& CusolverLibrary::of_process() {
  static const auto library = open_or_say_why(find_cusolver);
  return library;
}

}  // namespace devices

LibraryReport report_cublas() {
  return static_cast<const LibraryReport&>(devices::CublasLibrary::of_process());
}
LibraryReport report_cublas_lt() {
  return static_cast<const LibraryReport&>(devices::CublasLtLibrary::of_process());
}
LibraryReport report_cufft() {
  return static_cast<const LibraryReport&>(devices::CufftLibrary::of_process());
}
LibraryReport report_cusolver() {
  return static_cast<const LibraryReport&>(devices::CusolverLibrary::of_process());
}

}  // namespace partita
