#include "kernels/host/number_arithmetic.hpp"

#include "kernels/host/blas_library.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace partita::kernels {
namespace {

template <class Real>
void product(Real* x, const Real* y, std::int64_t count) {
  for (std::int64_t j = 0; j < 2 * count; j += 2) {
    const Real real = x[j] * y[j] - x[j + 1] * y[j + 1];
    x[j + 1] = x[j] * y[j + 1] + x[j + 1] * y[j];
    x[j] = real;
  }
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,fma")))

// Compilers leave half of the gain: they take the numbers apart and shuffle them back.
AVX2 void product_avx2(double* x, const double* y, std::int64_t count) {
  std::int64_t j = 0;
  for (; j + 4 <= 2 * count; j += 4) {
    const __m256d a = _mm256_loadu_pd(x + j), b = _mm256_loadu_pd(y + j);
    const __m256d crossed = _mm256_mul_pd(_mm256_permute_pd(a, 5), _mm256_permute_pd(b, 15));
    _mm256_storeu_pd(x + j, _mm256_fmaddsub_pd(a, _mm256_movedup_pd(b), crossed));
  }
  product(x + j, y + j, count - j / 2);
}

AVX2 void product_avx2(float* x, const float* y, std::int64_t count) {
  std::int64_t j = 0;
  for (; j + 8 <= 2 * count; j += 8) {
    const __m256 a = _mm256_loadu_ps(x + j), b = _mm256_loadu_ps(y + j);
    const __m256 crossed = _mm256_mul_ps(_mm256_permute_ps(a, 0xb1), _mm256_movehdup_ps(b));
    _mm256_storeu_ps(x + j, _mm256_fmaddsub_ps(a, _mm256_moveldup_ps(b), crossed));
  }
  product(x + j, y + j, count - j / 2);
}
#endif

template <class Real>
void best_product(Real* x, const Real* y, std::int64_t count) {
#if defined(__x86_64__)
  static const bool has_avx2 = ProcessorFeatures::detect().avx2;
  if (has_avx2) return product_avx2(x, y, count);
#endif
  product(x, y, count);
}

}  // namespace

void multiply_complex(double* x, const double* y, std::int64_t count) {
  best_product(x, y, count);
}

void multiply_complex(float* x, const float* y, std::int64_t count) {
  best_product(x, y, count);
}

template <class Real>
void scale(std::span<const ScaleLoop> loops, int reals, Real factor, Real* first) {
  if (loops.empty()) {
    for (int i = 0; i < reals; ++i) first[i] *= factor;
    return;
  }
  const ScaleLoop& loop = loops.front();
  if (loops.size() == 1 && loop.stride == 1) {
    for (std::int64_t i = 0; i < loop.count * reals; ++i) first[i] *= factor;
    return;
  }
  for (std::int64_t i = 0; i < loop.count; ++i) {
    scale(loops.subspan(1), reals, factor, first + i * loop.stride * reals);
  }
}

template void scale(std::span<const ScaleLoop> loops, int reals, float factor, float* first);
template void scale(std::span<const ScaleLoop> loops, int reals, double factor, double* first);

}  // namespace partita::kernels
