// The OpenBLAS of this process: the one that Partita opened, with the kernels that it chose.
#pragma once

#include <cstdint>
#include <string>

namespace partita::benchmarks {

/// Fortran's dgemm and dgemv, column-major.
struct OpenBlas {
  void (*dgemm)(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                const double* alpha, const double* a, const int* leading_a, const double* b,
                const int* leading_b, const double* beta, double* c, const int* leading_c) = nullptr;
  void (*dgemv)(const char* transpose, const int* m, const int* n, const double* alpha, const double* a,
                const int* leading, const double* x, const int* step_x, const double* beta, double* y,
                const int* step_y) = nullptr;
  void (*set_threads)(int threads) = nullptr;
  std::string core_type;
  void* handle = nullptr;  ///< of dlopen

  /// C = A B, dense column-major.
  void multiply(int m, int n, int k, const double* a, const double* b, double* c) const;
  /// y = A x, A dense row-major, of m rows and n columns.
  void multiply(int m, int n, const double* a, const double* x, double* y) const;
};

/// Opens it first if it is not open, and gives its names to the whole process, so that every BLAS call of a
/// library that is opened later is bound to it, whatever libblas.so is. Throws UnsupportedError if there is
/// none.
const OpenBlas& openblas();

}  // namespace partita::benchmarks
