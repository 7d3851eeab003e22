// Half spectra and the numbers that they are transformed as, for lines of odd length.
#include "kernels/host/odd_length.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace partita::testing {
namespace {

template <class Real>
void expect_unfolded(kernels::FftwPrecision precision, std::int64_t length, Real factor) {
  const auto size = static_cast<std::size_t>(length);
  std::vector<Real> spectrum(size + 1), numbers(size + 2, Real(-77));
  for (std::size_t i = 0; i < spectrum.size(); ++i) spectrum[i] = std::sin(static_cast<Real>(3 * i + 1));
  kernels::unfold(precision, length, reinterpret_cast<const char*>(spectrum.data()),
                  reinterpret_cast<char*>(numbers.data() + 1), static_cast<double>(factor));
  EXPECT_EQ(numbers.front(), Real(-77)) << length;
  EXPECT_EQ(numbers.back(), Real(-77)) << length;
  EXPECT_EQ(numbers[1], factor * spectrum[0]) << length;
  for (std::size_t k = 1; k <= size / 2; ++k) {
    const Real real = factor * spectrum[2 * k], imaginary = factor * spectrum[2 * k + 1];
    EXPECT_NEAR(numbers[1 + k], real - imaginary, 1e-6) << length << ", " << k;
    EXPECT_NEAR(numbers[1 + size - k], real + imaginary, 1e-6) << length << ", " << k;
  }
}

// In whole vectors, and what is left of them.
TEST(OddLength, HalfSpectraOfAllLengths) {
  for (std::int64_t length = 1; length < 80; length += 2) {
    expect_unfolded<double>(kernels::FftwPrecision::f64, length, 1);
    expect_unfolded<double>(kernels::FftwPrecision::f64, length, -0.25);
    expect_unfolded<float>(kernels::FftwPrecision::f32, length, 1);
    expect_unfolded<float>(kernels::FftwPrecision::f32, length, -0.25F);
  }
}

}  // namespace
}  // namespace partita::testing
