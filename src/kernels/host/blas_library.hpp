// OpenBLAS, opened on first use and not linked: its kernels are chosen by an environment variable that must
// be set before it is loaded. Releases older than a processor do not know it and fall back to kernels several
// times slower; cpuid gives a better choice. Where the loader finds no OpenBLAS, the one in Python packages
// is opened: that of NumPy, SciPy or scipy-openblas32.
#pragma once

#include <complex>
#include <memory>
#include <string>

#include "kernels/host/blas_integers.hpp"

namespace partita::kernels {

/// What decides on the kernels.
struct ProcessorFeatures {
  bool avx512 = false;  ///< F, DQ, BW and VL
  bool avx2 = false;    ///< and FMA
  bool amd = false;
  static ProcessorFeatures detect();  ///< by cpuid; none on other architectures
};

/// The value of OPENBLAS_CORETYPE that suits the processor; empty: OpenBLAS's own choice is as good.
std::string suitable_core_type(const ProcessorFeatures& features);

/// A hint about the kernels that OpenBLAS uses; empty if they suit the processor. `suitable`: see
/// suitable_core_type. `by_user`: OPENBLAS_CORETYPE of the environment; null: not set. `loaded_before`:
/// another component had loaded the library before.
std::string note_on_kernels(const std::string& core_type, const std::string& suitable, const char* by_user,
                            bool loaded_before);

/// Fortran's gemm: C = alpha op(A) op(B) + beta C, column-major, 32-bit sizes.
template <class T>
using Gemm = void (*)(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                      const int* k, const T* alpha, const T* a, const int* leading_a, const T* b,
                      const int* leading_b, const T* beta, T* c, const int* leading_c);

/// Fortran's gemv: y = alpha op(A) x + beta y.
template <class T>
using Gemv = void (*)(const char* transpose, const int* m, const int* n, const T* alpha, const T* a,
                      const int* leading, const T* x, const int* x_step, const T* beta, T* y,
                      const int* y_step);

/// One library a process. Thread-safe.
class BlasLibrary {
 public:
  const std::string& path() const { return path_; }
  /// OPENBLAS_CORETYPE as Partita set it while the library loaded; empty: it was left alone.
  const std::string& chosen_core_type() const { return chosen_; }
  std::string core_type() const { return core_type_(); }          ///< as the library reports it
  std::string configuration() const { return configuration_(); }  ///< as the library reports it
  /// What the user should know: see note_on_kernels. Empty: nothing.
  const std::string& note() const { return note_; }

  int threads() const { return threads_(); }
  void set_threads(int threads) const { set_threads_(threads); }  ///< of the whole process

  /// Whether its integers have 64 bits. Functions are called with 32-bit integers nevertheless.
  bool has_wide_integers() const { return naming_.wide; }
  /// Fortran's function "dgemm" of the library, or an adapter for its integers; null if the library has none.
  /// `member`, a pointer to a member, identifies the adapter.
  template <auto member, class Function>
  void find_function(const std::string& name, Function& function) const {
    function = with_narrow_integers<member, Function>(symbol(naming_.of_fortran(name)), naming_.wide);
  }

  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  Gemm<std::complex<float>> cgemm = nullptr;
  Gemm<std::complex<double>> zgemm = nullptr;
  Gemv<float> sgemv = nullptr;
  Gemv<double> dgemv = nullptr;
  Gemv<std::complex<float>> cgemv = nullptr;
  Gemv<std::complex<double>> zgemv = nullptr;

  BlasLibrary(void* handle, std::string chosen, bool loaded_before);  ///< for blas()

 private:
  void* symbol(const std::string& name) const;  // null if the library has none
  template <auto member>
  void find_required(const char* name);
  template <class Function>
  void find_control(const char* name, Function& function);

  void* handle_;
  BlasNaming naming_;
  char* (*core_type_)() = nullptr;
  char* (*configuration_)() = nullptr;
  int (*threads_)() = nullptr;
  void (*set_threads_)(int) = nullptr;
  std::string path_, chosen_, note_;
};

/// Opens the library at the first call. OPENBLAS_CORETYPE of the caller's environment wins. Throws
/// UnsupportedError where there is no OpenBLAS, and says how to get it.
BlasLibrary& blas();

/// The OpenBLAS in the installed Python packages, opened anew; null if there is none. For blas() and tests.
std::unique_ptr<BlasLibrary> open_packaged_blas();

/// Keeps the number of BLAS threads at `threads` while the result exists, also if the library is opened
/// later. The process has one setting: with several holders the first one's applies, and the last one
/// restores the previous value. Thread-safe.
std::shared_ptr<void> hold_blas_threads(int threads);

}  // namespace partita::kernels
