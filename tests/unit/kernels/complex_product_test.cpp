// Products of complex numbers against std::complex, of every remainder modulo a vector.
#include "kernels/host/number_arithmetic.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

template <class Real>
void expect_products() {
  for (std::size_t count = 0; count < 20; ++count) {
    std::vector<std::complex<Real>> x, y, expected;
    for (std::size_t j = 0; j < count; ++j) {
      const auto i = static_cast<Real>(j);
      x.emplace_back(i + 1, 3 - 2 * i);
      y.emplace_back(5 - i, i / 4 + 1);
      expected.push_back(x.back() * y.back());
    }
    kernels::multiply_complex(reinterpret_cast<Real*>(x.data()), reinterpret_cast<const Real*>(y.data()),
                              static_cast<std::int64_t>(count));
    for (std::size_t j = 0; j < count; ++j) {
      EXPECT_LE(std::abs(x[j] - expected[j]),
                4 * std::numeric_limits<Real>::epsilon() * std::abs(expected[j]))
          << j << " of " << count;
    }
  }
}

TEST(ComplexProduct, IsThatOfTheNumbers) {
  expect_products<double>();
  expect_products<float>();
}

}  // namespace
}  // namespace partita
