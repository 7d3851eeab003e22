#include "kernels/host/number_arithmetic.hpp"

#include "kernels/host/blas_library.hpp"

#if defined(__x86_64__)
#include "kernels/host/avx2_numbers.hpp"
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
// Compilers leave half of the gain: they take the numbers apart and shuffle them back.
template <class Real>
AVX2_FMA void product_avx2(Real* x, const Real* y, std::int64_t count) {
  using V = Avx2<Real>;
  std::int64_t j = 0;
  for (; j + V::width <= 2 * count; j += V::width)
    V::store(x + j, V::template product<false>(V::load(x + j), V::load(y + j)));
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
