#include "kernels/host/odd_length.hpp"

#include "kernels/host/blas_library.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace partita::kernels {
namespace {

/// Elements from `first` on.
template <class Real>
__attribute__((always_inline)) inline void unfold_plainly(std::int64_t length, const Real* spectrum,
                                                          Real* numbers, Real factor, std::int64_t first) {
  Real* const end = numbers + length;
  for (std::int64_t k = first; k <= length / 2; ++k) {
    const Real real = factor * spectrum[2 * k], imaginary = factor * spectrum[2 * k + 1];
    numbers[k] = real - imaginary;
    end[-k] = real + imaginary;
  }
}

#if defined(__x86_64__)
#define VECTOR __attribute__((target("avx2"), always_inline)) static inline

/// Numbers in a register: of two with complex numbers the real and the imaginary parts, and the order
/// reversed.
template <class Real>
struct Parts;

template <>
struct Parts<double> {
  using Vector = __m256d;
  static constexpr std::int64_t width = 4;
  VECTOR Vector load(const double* x) { return _mm256_loadu_pd(x); }
  VECTOR void store(double* x, Vector v) { _mm256_storeu_pd(x, v); }
  VECTOR Vector every(double x) { return _mm256_set1_pd(x); }
  VECTOR Vector real(Vector a, Vector b) { return in_order(_mm256_unpacklo_pd(a, b)); }
  VECTOR Vector imaginary(Vector a, Vector b) { return in_order(_mm256_unpackhi_pd(a, b)); }
  VECTOR Vector in_order(Vector v) { return _mm256_permute4x64_pd(v, 0xd8); }
  VECTOR Vector reversed(Vector v) { return _mm256_permute4x64_pd(v, 0x1b); }
  VECTOR Vector scale(Vector a, Vector b) { return _mm256_mul_pd(a, b); }
  VECTOR Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
  VECTOR Vector subtract(Vector a, Vector b) { return _mm256_sub_pd(a, b); }
};

template <>
struct Parts<float> {
  using Vector = __m256;
  static constexpr std::int64_t width = 8;
  VECTOR Vector load(const float* x) { return _mm256_loadu_ps(x); }
  VECTOR void store(float* x, Vector v) { _mm256_storeu_ps(x, v); }
  VECTOR Vector every(float x) { return _mm256_set1_ps(x); }
  VECTOR Vector real(Vector a, Vector b) { return in_order(_mm256_shuffle_ps(a, b, 0x88)); }
  VECTOR Vector imaginary(Vector a, Vector b) { return in_order(_mm256_shuffle_ps(a, b, 0xdd)); }
  VECTOR Vector in_order(Vector v) {
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xd8));
  }
  VECTOR Vector reversed(Vector v) {
    return _mm256_permutevar8x32_ps(v, _mm256_set_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  VECTOR Vector scale(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  VECTOR Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  VECTOR Vector subtract(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
};

template <class Real>
__attribute__((target("avx2"))) void unfold_in_vectors(std::int64_t length, const Real* spectrum,
                                                       Real* numbers, Real factor) {
  using P = Parts<Real>;
  const auto factors = P::every(factor);
  std::int64_t k = 1;
  for (; k + P::width - 1 <= length / 2; k += P::width) {
    const auto a = P::load(spectrum + 2 * k), b = P::load(spectrum + 2 * k + P::width);
    const auto real = P::scale(P::real(a, b), factors), imaginary = P::scale(P::imaginary(a, b), factors);
    P::store(numbers + k, P::subtract(real, imaginary));
    P::store(numbers + length - k - P::width + 1, P::reversed(P::add(real, imaginary)));
  }
  unfold_plainly(length, spectrum, numbers, factor, k);
}
#undef VECTOR
#endif

template <class Real>
void unfold_line(std::int64_t length, const char* from, char* to, Real factor) {
  const auto* const spectrum = reinterpret_cast<const Real*>(from);
  auto* const numbers = reinterpret_cast<Real*>(to);
  numbers[0] = factor * spectrum[0];
#if defined(__x86_64__)
  static const bool has_avx2 = ProcessorFeatures::detect().avx2;
  if (has_avx2) return unfold_in_vectors(length, spectrum, numbers, factor);
#endif
  unfold_plainly(length, spectrum, numbers, factor, 1);
}

}  // namespace

void unfold(FftwPrecision precision, std::int64_t length, const char* spectrum, char* numbers,
            double factor) {
  if (precision == FftwPrecision::f64) return unfold_line(length, spectrum, numbers, factor);
  unfold_line(length, spectrum, numbers, static_cast<float>(factor));
}

}  // namespace partita::kernels
