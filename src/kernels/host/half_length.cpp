// With w = exp(-2 pi i / n), s = a + conj(b) and d = a - conj(b) of the elements a = in[k] and b = in[m - k]:
//
//   out[k] = h (s + r d),  out[m - k] = conj(h (s - r d))
//
// is with r = -i w^k and h = 1/2 the half spectrum of a line, from the transform of its m complex numbers;
// and with the conjugate of r and h = 1 what is to be transformed backward, from a half spectrum. Of the
// lines k and -k of a transform along another axis, b is the element of the other line, as is out[m - k].
#include "kernels/host/half_length.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "kernels/host/blas_library.hpp"
#include "kernels/host/known.hpp"
#include "kernels/host/roots.hpp"

#if defined(__x86_64__)
#include "kernels/host/avx2_numbers.hpp"
#endif

namespace partita::kernels {
namespace {

constexpr std::int64_t shortest_block = 512;  // of roots: 8 KiB stay in the first-level cache

/// A line of m = half, the line with the elements m - k, which may be the same, and h.
template <class Real>
struct Line {
  const Real* in;
  Real* out;
  const Real* other_in;
  Real* other_out;
  std::int64_t half;
  Real h;
};

/// Pairs k in [first, last); their roots are high * low[0], low[1], ... Arguments that the compiler keeps in
/// registers: what was stored in parts and is loaded whole would cost more than a short line.
template <bool back, class Real>
__attribute__((always_inline)) inline void combine_plainly(Line<Real> line, std::int64_t first,
                                                           std::int64_t last, const std::complex<Real>* low,
                                                           Real high_real, Real high_imaginary) {
  const Real h = line.h;
  for (std::int64_t k = first; k < last; ++k, ++low) {
    const Real* const a = line.in + 2 * k;
    const Real* const b = line.other_in + 2 * (line.half - k);
    const Real real = high_real * low->real() - high_imaginary * low->imag();
    const Real imaginary = high_real * low->imag() + high_imaginary * low->real();
    const Real root = back ? -imaginary : imaginary;
    const Real s_real = h * (a[0] + b[0]), s_imaginary = h * (a[1] - b[1]);
    const Real d_real = h * (a[0] - b[0]), d_imaginary = h * (a[1] + b[1]);
    const Real t_real = d_real * real - d_imaginary * root, t_imaginary = d_real * root + d_imaginary * real;
    Real* const to_a = line.out + 2 * k;
    Real* const to_b = line.other_out + 2 * (line.half - k);
    to_a[0] = s_real + t_real;
    to_a[1] = s_imaginary + t_imaginary;
    to_b[0] = s_real - t_real;
    to_b[1] = t_imaginary - s_imaginary;
  }
}

#if defined(__x86_64__)
template <bool back, class Real>
AVX2_FMA void combine_in_vectors(Line<Real> line, std::int64_t first, std::int64_t last,
                                 const std::complex<Real>* low, Real high_real, Real high_imaginary) {
  using V = Avx2<Real>;
  constexpr std::int64_t pairs = V::width / 2;
  const auto h = V::every(line.h), high = V::every(high_real, high_imaginary);
  for (; first + pairs <= last; first += pairs, low += pairs) {
    const std::int64_t other = line.half - first - pairs + 1;
    const auto a = V::load(line.in + 2 * first);
    const auto b = V::conjugate(V::reversed_pairs(V::load(line.other_in + 2 * other)));
    const auto root = V::template product<false>(V::load(reinterpret_cast<const Real*>(low)), high);
    const auto s = V::scale(V::add(a, b), h);
    const auto t = V::template product<back>(V::scale(V::subtract(a, b), h), root);
    V::store(line.out + 2 * first, V::add(s, t));
    V::store(line.other_out + 2 * other, V::reversed_pairs(V::conjugate(V::subtract(s, t))));
  }
  combine_plainly<back>(line, first, last, low, high_real, high_imaginary);
}
#endif

template <bool back, class Real>
void combine(Line<Real> line, std::int64_t first, std::int64_t last, const std::complex<Real>* low,
             Real high_real, Real high_imaginary) {
#if defined(__x86_64__)
  static const bool has_avx2 = ProcessorFeatures::detect().avx2;
  if (has_avx2) return combine_in_vectors<back>(line, first, last, low, high_real, high_imaginary);
#endif
  combine_plainly<back>(line, first, last, low, high_real, high_imaginary);
}

template <class Real>
class HalfLengthOf final : public HalfLength {
 public:
  explicit HalfLengthOf(std::int64_t length)
      : half_(length / 2), roots_(length, -1, (half_ + 1) / 2, shortest_block) {}

  void to_spectrum(const char* transform, char* spectrum, double factor) const override {
    const auto* const in = reinterpret_cast<const Real*>(transform);
    auto* const out = reinterpret_cast<Real*>(spectrum);
    const auto whole = static_cast<Real>(factor);
    combine_all<false>({in, out, in, out, half_, whole / 2});
    const Real real = in[0] * whole, imaginary = in[1] * whole;
    out[0] = real + imaginary;
    out[2 * half_] = real - imaginary;
    out[1] = out[2 * half_ + 1] = 0;
  }

  void from_spectrum(const char* spectrum, char* numbers, double factor) const override {
    const auto* const in = reinterpret_cast<const Real*>(spectrum);
    auto* const out = reinterpret_cast<Real*>(numbers);
    const auto whole = static_cast<Real>(factor);
    const Real first = in[0] * whole, last = in[2 * half_] * whole;
    combine_all<true>({in, out, in, out, half_, whole});
    out[0] = first + last;
    out[1] = first - last;
  }

  // The first and last elements count as what their line and the other one have in common.
  void from_spectra(const Pair& pair, double factor) const override {
    const auto* const a = reinterpret_cast<const Real*>(pair.spectrum);
    const auto* const b = reinterpret_cast<const Real*>(pair.other_spectrum);
    auto* const to_a = reinterpret_cast<Real*>(pair.numbers);
    auto* const to_b = reinterpret_cast<Real*>(pair.other_numbers);
    const auto whole = static_cast<Real>(factor);
    combine_all<true>({a, to_a, b, to_b, half_, whole});
    combine_all<true>({b, to_b, a, to_a, half_, whole});
    const Real h = whole / 2;
    const Real *const a_last = a + 2 * half_, *const b_last = b + 2 * half_;
    const Real first = h * (a[0] + b[0]), first_imaginary = h * (a[1] - b[1]);
    const Real last = h * (a_last[0] + b_last[0]), last_imaginary = h * (a_last[1] - b_last[1]);
    const Real sum = first + last, difference = first - last;
    const Real sum_imaginary = first_imaginary + last_imaginary;
    const Real difference_imaginary = first_imaginary - last_imaginary;
    to_a[0] = sum - difference_imaginary;
    to_a[1] = sum_imaginary + difference;
    to_b[0] = sum + difference_imaginary;
    to_b[1] = difference - sum_imaginary;
  }

 private:
  /// All but the first element and the one behind the last.
  template <bool back>
  void combine_all(const Line<Real>& line) const {
    if (half_ % 2 == 0) {  // its own partner
      const Real real = 2 * line.h * line.other_in[half_], imaginary = -2 * line.h * line.other_in[half_ + 1];
      line.out[half_] = real;
      line.out[half_ + 1] = imaginary;
    }
    const std::int64_t end = (half_ + 1) / 2, block = roots_.block();
    for (std::int64_t first = 0, number = 0; first < end; first += block, ++number) {
      const std::int64_t k = std::max<std::int64_t>(first, 1);
      const std::complex<Real> high = roots_.high(number);
      combine<back>(line, k, std::min(first + block, end), roots_.low() + (k - first), high.imag(),
                    -high.real());
    }
  }

  std::int64_t half_;
  Roots<Real> roots_;
};

}  // namespace

std::shared_ptr<const HalfLength> half_length(FftwPrecision precision, std::int64_t length) {
  static auto* const known = new Known<std::pair<FftwPrecision, std::int64_t>, HalfLength>;
  return known->find_or_make({precision, length}, [&]() -> std::shared_ptr<const HalfLength> {
    if (precision == FftwPrecision::f32) return std::make_shared<const HalfLengthOf<float>>(length);
    return std::make_shared<const HalfLengthOf<double>>(length);
  });
}

}  // namespace partita::kernels
