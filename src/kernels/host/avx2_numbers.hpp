// Registers of AVX2 with real numbers, or complex ones side by side, as the passes beside FFTW's transforms
// use them. Include it where `__x86_64__` is defined, and call it from functions with the same target.
#pragma once

#include <immintrin.h>

#include <cstdint>

#define AVX2_FMA __attribute__((target("avx2,fma")))

namespace partita::kernels {

template <class Real>
struct Avx2;

#define VECTOR __attribute__((target("avx2,fma"), always_inline)) static inline

template <>
struct Avx2<double> {
  using Vector = __m256d;
  static constexpr std::int64_t width = 4;
  VECTOR Vector load(const double* x) { return _mm256_loadu_pd(x); }
  VECTOR void store(double* x, Vector v) { _mm256_storeu_pd(x, v); }
  VECTOR Vector every(double x) { return _mm256_set1_pd(x); }
  VECTOR Vector every(double x, double y) { return _mm256_unpacklo_pd(every(x), every(y)); }
  VECTOR Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
  VECTOR Vector subtract(Vector a, Vector b) { return _mm256_sub_pd(a, b); }
  VECTOR Vector scale(Vector a, Vector b) { return _mm256_mul_pd(a, b); }
  /// Of two registers with complex numbers.
  VECTOR Vector real(Vector a, Vector b) { return in_order(_mm256_unpacklo_pd(a, b)); }

  // Complex numbers.
  VECTOR Vector reversed_pairs(Vector v) { return _mm256_permute2f128_pd(v, v, 1); }
  VECTOR Vector conjugate(Vector v) { return _mm256_xor_pd(v, _mm256_set_pd(-0.0, 0.0, -0.0, 0.0)); }
  /// a b, or a conj(b).
  template <bool conjugate>
  VECTOR Vector product(Vector a, Vector b) {
    const Vector crossed = _mm256_mul_pd(_mm256_permute_pd(a, 5), _mm256_permute_pd(b, 15));
    if constexpr (conjugate) return _mm256_fmsubadd_pd(a, _mm256_movedup_pd(b), crossed);
    return _mm256_fmaddsub_pd(a, _mm256_movedup_pd(b), crossed);
  }

 private:
  VECTOR Vector in_order(Vector v) { return _mm256_permute4x64_pd(v, 0xd8); }
};

template <>
struct Avx2<float> {
  using Vector = __m256;
  static constexpr std::int64_t width = 8;
  VECTOR Vector load(const float* x) { return _mm256_loadu_ps(x); }
  VECTOR void store(float* x, Vector v) { _mm256_storeu_ps(x, v); }
  VECTOR Vector every(float x) { return _mm256_set1_ps(x); }
  VECTOR Vector every(float x, float y) { return _mm256_unpacklo_ps(every(x), every(y)); }
  VECTOR Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  VECTOR Vector subtract(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
  VECTOR Vector scale(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  VECTOR Vector real(Vector a, Vector b) { return in_order(_mm256_shuffle_ps(a, b, 0x88)); }

  VECTOR Vector reversed_pairs(Vector v) { return permuted<0x1b>(v); }
  VECTOR Vector conjugate(Vector v) {
    return _mm256_xor_ps(v, _mm256_set_ps(-0.0F, 0, -0.0F, 0, -0.0F, 0, -0.0F, 0));
  }
  template <bool conjugate>
  VECTOR Vector product(Vector a, Vector b) {
    const Vector crossed = _mm256_mul_ps(_mm256_permute_ps(a, 0xb1), _mm256_movehdup_ps(b));
    if constexpr (conjugate) return _mm256_fmsubadd_ps(a, _mm256_moveldup_ps(b), crossed);
    return _mm256_fmaddsub_ps(a, _mm256_moveldup_ps(b), crossed);
  }

 private:
  /// Pairs of numbers.
  template <int order>
  VECTOR Vector permuted(Vector v) {
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), order));
  }
  VECTOR Vector in_order(Vector v) { return permuted<0xd8>(v); }
};

#undef VECTOR

}  // namespace partita::kernels
