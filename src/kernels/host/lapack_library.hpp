// The functions of LAPACK, and BLAS's triangular solve, in the BLAS library, which OpenBLAS contains.
#pragma once

#include <cstddef>

namespace partita::kernels {

/// Fortran's functions for one type: column-major, 32-bit sizes. Lengths of character arguments are the last
/// arguments. T: float, double or complex of these.
template <class T>
struct LapackFunctions {
  using Length = std::size_t;

  /// A = L L^H or U^H U. info > 0: the order of the first leading minor that is not positive definite.
  void (*potrf)(const char* triangle, const int* n, T* a, const int* leading, int* info,
                Length one) = nullptr;
  /// P A = L U. info > 0: the first pivot, counted from 1, that is 0. Pivots are counted from 1.
  void (*getrf)(const int* m, const int* n, T* a, const int* leading, int* pivots, int* info) = nullptr;
  /// A = Q R. With work_size = -1, work[0] becomes the best size of `work`.
  void (*geqrf)(const int* m, const int* n, T* a, const int* leading, T* tau, T* work, const int* work_size,
                int* info) = nullptr;
  /// B = alpha op(A)^-1 B or alpha B op(A)^-1. OpenBLAS's operation R: conjugated, not transposed.
  void (*trsm)(const char* side, const char* triangle, const char* operation, const char* diagonal,
               const int* m, const int* n, const T* alpha, const T* a, const int* leading_a, T* b,
               const int* leading_b, Length, Length, Length, Length) = nullptr;
};

/// Looks the functions up at the first call. Thread-safe. Throws UnsupportedError if there is no OpenBLAS, or
/// one without LAPACK.
template <class T>
const LapackFunctions<T>& lapack();

}  // namespace partita::kernels
