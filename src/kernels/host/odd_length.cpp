#include "kernels/host/odd_length.hpp"

#include "kernels/host/blas_library.hpp"

#if defined(__x86_64__)
#include "kernels/host/avx2_numbers.hpp"
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
template <class Real>
AVX2_FMA void unfold_in_vectors(std::int64_t length, const Real* spectrum, Real* numbers, Real factor) {
  using V = Avx2<Real>;
  const auto factors = V::every(factor);
  std::int64_t k = 1;
  for (; k + V::width - 1 <= length / 2; k += V::width) {
    const auto a = V::load(spectrum + 2 * k), b = V::load(spectrum + 2 * k + V::width);
    const auto real = V::scale(V::real(a, b), factors), imaginary = V::scale(V::imaginary(a, b), factors);
    V::store(numbers + k, V::subtract(real, imaginary));
    V::store(numbers + length - k - V::width + 1, V::reversed(V::add(real, imaginary)));
  }
  unfold_plainly(length, spectrum, numbers, factor, k);
}
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
