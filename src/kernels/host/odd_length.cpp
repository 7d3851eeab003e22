#include "kernels/host/odd_length.hpp"

#include "kernels/host/blas_library.hpp"

#if defined(__x86_64__)
#include "kernels/host/avx2_numbers.hpp"
#endif

namespace partita::kernels {
namespace {

/// Elements from `first` on.
template <class Real>
__attribute__((always_inline)) inline void complete_plainly(std::int64_t length, const Real* half,
                                                            Real* whole, Real factor, std::int64_t first) {
  Real* const end = whole + 2 * length;
  for (std::int64_t k = first; k <= length / 2; ++k) {
    const Real real = factor * half[2 * k], imaginary = factor * half[2 * k + 1];
    whole[2 * k] = end[-2 * k] = real;
    whole[2 * k + 1] = imaginary;
    end[1 - 2 * k] = -imaginary;
  }
}

template <class Real>
__attribute__((always_inline)) inline void take_plainly(std::int64_t length, const Real* numbers, Real* reals,
                                                        std::int64_t first) {
  for (std::int64_t k = first; k < length; ++k) reals[k] = numbers[2 * k];
}

#if defined(__x86_64__)
template <class Real>
AVX2_FMA void complete_in_vectors(std::int64_t length, const Real* half, Real* whole, Real factor) {
  using V = Avx2<Real>;
  constexpr std::int64_t numbers = V::width / 2;
  const auto factors = V::every(factor);
  std::int64_t k = 1;
  for (; k + numbers - 1 <= length / 2; k += numbers) {
    const auto a = V::scale(V::load(half + 2 * k), factors);
    V::store(whole + 2 * k, a);
    V::store(whole + 2 * (length - k - numbers + 1), V::reversed_pairs(V::conjugate(a)));
  }
  complete_plainly(length, half, whole, factor, k);
}

template <class Real>
AVX2_FMA void take_in_vectors(std::int64_t length, const Real* numbers, Real* reals) {
  using V = Avx2<Real>;
  std::int64_t k = 0;
  for (; k + V::width <= length; k += V::width)
    V::store(reals + k, V::real(V::load(numbers + 2 * k), V::load(numbers + 2 * k + V::width)));
  take_plainly(length, numbers, reals, k);
}

bool has_avx2() {
  static const bool has = ProcessorFeatures::detect().avx2;
  return has;
}
#endif

template <class Real>
void complete(std::int64_t length, const char* from, char* to, Real factor) {
  const auto* const half = reinterpret_cast<const Real*>(from);
  auto* const whole = reinterpret_cast<Real*>(to);
  whole[0] = factor * half[0];
  whole[1] = 0;
#if defined(__x86_64__)
  if (has_avx2()) return complete_in_vectors(length, half, whole, factor);
#endif
  complete_plainly(length, half, whole, factor, 1);
}

template <class Real>
void take(std::int64_t length, const char* from, char* to) {
  const auto* const numbers = reinterpret_cast<const Real*>(from);
  auto* const reals = reinterpret_cast<Real*>(to);
#if defined(__x86_64__)
  if (has_avx2()) return take_in_vectors(length, numbers, reals);
#endif
  take_plainly(length, numbers, reals, 0);
}

}  // namespace

void complete_spectrum(FftwPrecision precision, std::int64_t length, const char* half, char* whole,
                       double factor) {
  if (precision == FftwPrecision::f64) return complete(length, half, whole, factor);
  complete(length, half, whole, static_cast<float>(factor));
}

void take_reals(FftwPrecision precision, std::int64_t length, const char* numbers, char* reals) {
  if (precision == FftwPrecision::f64) return take<double>(length, numbers, reals);
  take<float>(length, numbers, reals);
}

}  // namespace partita::kernels
