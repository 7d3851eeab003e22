// The functions of LAPACK, and BLAS's for triangles, in the BLAS library, which OpenBLAS contains.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "base/visit_dtype.hpp"

namespace partita::kernels {

template <class T>
struct RealOf {
  using Type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using Type = T;
};
/// The type of the parts of T.
template <class T>
using RealType = typename RealOf<T>::Type;

/// `what`: "factorization".
[[noreturn]] inline void refuse_dtype(const char* what, Dtype dtype) {
  throw UnsupportedError(fmt::format("no {} in {}: supported are f32, f64, c64 and c128", what, name(dtype)));
}

/// Calls `body` with the TypeTag of a dtype in which LAPACK computes. Throws UnsupportedError for others.
template <class Body>
decltype(auto) visit_lapack_dtype(Dtype dtype, const char* what, Body&& body) {
  switch (dtype) {
    case Dtype::f32:
      return body(TypeTag<float>());
    case Dtype::f64:
      return body(TypeTag<double>());
    case Dtype::c64:
      return body(TypeTag<std::complex<float>>());
    case Dtype::c128:
      return body(TypeTag<std::complex<double>>());
    default:
      refuse_dtype(what, dtype);
  }
}

/// Fortran's functions for one type: column-major, 32-bit sizes. Lengths of character arguments are the last
/// arguments. Arrays of integers are memory for 64-bit ones: the library decides on their width, see
/// `integer_of`. T: float, double or complex of these.
template <class T>
struct LapackFunctions {
  using Length = std::size_t;

  /// A = L L^H or U^H U. info > 0: the order of the first leading minor that is not positive definite.
  void (*potrf)(const char* triangle, const int* n, T* a, const int* leading, int* info,
                Length one) = nullptr;
  /// P A = L U. info > 0: the first pivot, counted from 1, that is 0. Pivots are counted from 1.
  void (*getrf)(const int* m, const int* n, T* a, const int* leading, std::int64_t* pivots,
                int* info) = nullptr;
  /// A = Q R as geqrf, in blocks of so many columns, whose T are adjacent in `t`. Work: block n.
  void (*geqrt)(const int* m, const int* n, const int* block, T* a, const int* leading, T* t,
                const int* leading_t, T* work, int* info) = nullptr;
  /// B = alpha op(A)^-1 B or alpha B op(A)^-1. OpenBLAS's operation R: conjugated, not transposed.
  void (*trsm)(const char* side, const char* triangle, const char* operation, const char* diagonal,
               const int* m, const int* n, const T* alpha, const T* a, const int* leading_a, T* b,
               const int* leading_b, Length, Length, Length, Length) = nullptr;
  /// x = op(A)^-1 x, with the operations of trsm.
  void (*trsv)(const char* triangle, const char* operation, const char* diagonal, const int* n, const T* a,
               const int* leading_a, T* x, const int* step, Length, Length, Length) = nullptr;
  /// B = alpha op(A) B or alpha B op(A).
  void (*trmm)(const char* side, const char* triangle, const char* operation, const char* diagonal,
               const int* m, const int* n, const T* alpha, const T* a, const int* leading_a, T* b,
               const int* leading_b, Length, Length, Length, Length) = nullptr;
  /// syrk or herk: C = alpha A^H A + beta C, of which one triangle is written, with operation T of real types
  /// and C of complex ones.
  void (*gram)(const char* triangle, const char* operation, const int* n, const int* k,
               const RealType<T>* alpha, const T* a, const int* leading_a, const RealType<T>* beta, T* c,
               const int* leading_c, Length, Length) = nullptr;
  /// Eigenvalues of real and of complex matrices, and their singular values. Sizes of -1 ask for workspaces.
  void (*syevd)(const char* job, const char* triangle, const int* n, T* a, const int* leading,
                RealType<T>* values, T* work, const int* work_size, std::int64_t* integers,
                const int* integers_size, int* info, Length, Length) = nullptr;
  void (*heevd)(const char* job, const char* triangle, const int* n, T* a, const int* leading,
                RealType<T>* values, T* work, const int* work_size, RealType<T>* reals, const int* reals_size,
                std::int64_t* integers, const int* integers_size, int* info, Length, Length) = nullptr;
  /// The values numbered from `first` to `last`, counted from 1, and their vectors.
  void (*syevr)(const char* job, const char* range, const char* triangle, const int* n, T* a,
                const int* leading, const RealType<T>* least, const RealType<T>* largest, const int* first,
                const int* last, const RealType<T>* tolerance, int* found, RealType<T>* values, T* vectors,
                const int* leading_vectors, std::int64_t* support, T* work, const int* work_size,
                std::int64_t* integers, const int* integers_size, int* info, Length, Length,
                Length) = nullptr;
  void (*heevr)(const char* job, const char* range, const char* triangle, const int* n, T* a,
                const int* leading, const RealType<T>* least, const RealType<T>* largest, const int* first,
                const int* last, const RealType<T>* tolerance, int* found, RealType<T>* values, T* vectors,
                const int* leading_vectors, std::int64_t* support, T* work, const int* work_size,
                RealType<T>* reals, const int* reals_size, std::int64_t* integers, const int* integers_size,
                int* info, Length, Length, Length) = nullptr;
  void (*gesdd)(const char* job, const int* m, const int* n, T* a, const int* leading, RealType<T>* values,
                T* u, const int* leading_u, T* vh, const int* leading_vh, T* work, const int* work_size,
                std::int64_t* integers, int* info, Length) = nullptr;
  void (*gesdd_complex)(const char* job, const int* m, const int* n, T* a, const int* leading,
                        RealType<T>* values, T* u, const int* leading_u, T* vh, const int* leading_vh,
                        T* work, const int* work_size, RealType<T>* reals, std::int64_t* integers, int* info,
                        Length) = nullptr;
};

/// Element i of an array of integers that a function of LAPACK has written. The memory must have been zero.
std::int32_t integer_of(const std::int64_t* integers, std::size_t i);

/// Looks the functions up at the first call. Thread-safe. Throws UnsupportedError if there is no OpenBLAS, or
/// one without LAPACK.
template <class T>
const LapackFunctions<T>& lapack();

}  // namespace partita::kernels
