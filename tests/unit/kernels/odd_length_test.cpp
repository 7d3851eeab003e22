// Half spectra and the numbers that they are transformed as, for lines of odd length.
#include "kernels/host/odd_length.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

namespace partita::testing {
namespace {

template <class Real>
void expect_whole(kernels::FftwPrecision precision, std::int64_t length, Real factor) {
  using Complex = std::complex<Real>;
  const auto size = static_cast<std::size_t>(length);
  std::vector<Complex> half(size / 2 + 1), whole(size + 2, Complex(-77));
  for (std::size_t i = 0; i < half.size(); ++i)
    half[i] = {std::sin(static_cast<Real>(6 * i + 1)), std::sin(static_cast<Real>(6 * i + 4))};
  kernels::complete_spectrum(precision, length, reinterpret_cast<const char*>(half.data()),
                             reinterpret_cast<char*>(whole.data() + 1), static_cast<double>(factor));
  EXPECT_EQ(whole.front(), Complex(-77)) << length;
  EXPECT_EQ(whole.back(), Complex(-77)) << length;
  EXPECT_EQ(whole[1], Complex(factor * half[0].real())) << length;
  for (std::size_t k = 1; k <= size / 2; ++k) {
    EXPECT_EQ(whole[1 + k], factor * half[k]) << length << ", " << k;
    EXPECT_EQ(whole[1 + size - k], factor * std::conj(half[k])) << length << ", " << k;
  }
  std::vector<Real> reals(size + 2, Real(-77));
  kernels::take_reals(precision, length, reinterpret_cast<const char*>(whole.data() + 1),
                      reinterpret_cast<char*>(reals.data() + 1));
  EXPECT_EQ(reals.front(), Real(-77)) << length;
  EXPECT_EQ(reals.back(), Real(-77)) << length;
  for (std::size_t k = 0; k < size; ++k) EXPECT_EQ(reals[1 + k], whole[1 + k].real()) << length << ", " << k;
}

// In whole vectors, and what is left of them.
TEST(OddLength, HalfSpectraOfAllLengths) {
  for (std::int64_t length = 1; length < 80; length += 2) {
    expect_whole<double>(kernels::FftwPrecision::f64, length, 1);
    expect_whole<double>(kernels::FftwPrecision::f64, length, -0.25);
    expect_whole<float>(kernels::FftwPrecision::f32, length, 1);
    expect_whole<float>(kernels::FftwPrecision::f32, length, -0.25F);
  }
}

}  // namespace
}  // namespace partita::testing
