// OpenBLAS, opened on first use and not linked: its kernels are chosen by an environment variable that must
// stand before it loads. Releases older than a processor do not know it and fall back to kernels several
// times slower; what cpuid says decides better.
#pragma once

#include <complex>
#include <memory>
#include <string>

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
  std::string core_type() const;      ///< as the library reports it
  std::string configuration() const;  ///< as the library reports it
  /// What the user should know: see note_on_kernels. Empty: nothing.
  const std::string& note() const { return note_; }

  int threads() const;
  void set_threads(int threads) const;  ///< of the whole process

  /// A function of the library by its name; null if the library has none.
  void* find_function(const char* name) const;

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
  void* handle_;
  std::string path_, chosen_, note_;
};

/// Opens the library at the first call. OPENBLAS_CORETYPE of the caller's environment wins. Throws
/// UnsupportedError where there is no OpenBLAS, and says how to get it.
BlasLibrary& blas();

/// Keeps the number of BLAS threads at `threads` while the result exists, also if the library is opened
/// later. The process has one setting: with several holders the first one's applies, and the last one
/// restores the previous value. Thread-safe.
std::shared_ptr<void> hold_blas_threads(int threads);

}  // namespace partita::kernels
