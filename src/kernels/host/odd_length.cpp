#include "kernels/host/odd_length.hpp"

namespace partita::kernels {
namespace {

template <class Real>
void unfold_line(std::int64_t length, const char* from, char* to, Real factor) {
  const auto* const spectrum = reinterpret_cast<const Real*>(from);
  auto* const numbers = reinterpret_cast<Real*>(to);
  Real* const end = numbers + length;
  numbers[0] = factor * spectrum[0];
  for (std::int64_t k = 1; k <= length / 2; ++k) {
    const Real real = factor * spectrum[2 * k], imaginary = factor * spectrum[2 * k + 1];
    numbers[k] = real - imaginary;
    end[-k] = real + imaginary;
  }
}

}  // namespace

void unfold(FftwPrecision precision, std::int64_t length, const char* spectrum, char* numbers,
            double factor) {
  if (precision == FftwPrecision::f64) return unfold_line(length, spectrum, numbers, factor);
  unfold_line(length, spectrum, numbers, static_cast<float>(factor));
}

}  // namespace partita::kernels
