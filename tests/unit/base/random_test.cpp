// Random elements by their numbers, and the functions that they are made of.
#include "kernels/host/random.hpp"

#include "base/random_numbers.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using kernels::Randomness;
using kernels::RandomPass;

/// In units of the last place of what is expected.
double error_of(double found, double expected) {
  const double unit = std::nextafter(std::abs(expected), INFINITY) - std::abs(expected);
  return std::abs(found - expected) / unit;
}

TEST(RandomNumbers, LogarithmsAreThoseOfTheLibrary) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> any(0, 1);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::ldexp(0.5 + any(random) / 2, -static_cast<int>(random() % 54));
    ASSERT_LE(error_of(natural_logarithm(x), std::log(x)), 3) << x;
  }
  EXPECT_EQ(natural_logarithm(1), 0);
  for (const double x :
       {0x1p-53, 0x1.6a09e667f3bccp-1, 0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bcep-1, 1 - 0x1p-53, 1 - 0x1p-30})
    EXPECT_LE(error_of(natural_logarithm(x), std::log(x)), 3) << x;
}

TEST(RandomNumbers, CosinesAndSinesAreThoseOfTheLibrary) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> any(0, 1);
  const auto check = [](double turn) {
    const NumberPair<double> found = cosine_and_sine(turn);
    ASSERT_NEAR(found.first, std::cos(2 * std::numbers::pi * turn), 9e-16) << turn;
    ASSERT_NEAR(found.second, std::sin(2 * std::numbers::pi * turn), 9e-16) << turn;
  };
  for (int i = 0; i < 100000; ++i) check(any(random));
  for (int eighth = 0; eighth < 8; ++eighth) {
    check(eighth / 8.0);
    check(std::nextafter((eighth + 1) / 8.0, 0));
  }
  EXPECT_EQ(cosine_and_sine(0.25).first, 0);
  EXPECT_EQ(cosine_and_sine(0.5).first, -1);
  EXPECT_EQ(cosine_and_sine(0.75).second, -1);
}

template <class T>
class UniformNumbers : public ::testing::Test {};
using FloatingTypes = ::testing::Types<Float8E4M3, Float8E5M2, Float16, BFloat16, float, double>;
TYPED_TEST_SUITE(UniformNumbers, FloatingTypes);

TYPED_TEST(UniformNumbers, StayBelowOneWhenTheyAreRounded) {
  const auto largest = uniform_element<TypeParam>(~std::uint64_t{0});
  EXPECT_LT(static_cast<double>(largest), 1);
  EXPECT_EQ(static_cast<double>(uniform_element<TypeParam>(0)), -1);
  // It is the largest number below 1: halfway from it to 1, numbers are rounded to either.
  const double halfway = (static_cast<double>(largest) + 1) / 2;
  if constexpr (sizeof(TypeParam) < sizeof(float)) {
    EXPECT_EQ(static_cast<float>(TypeParam(static_cast<float>(halfway))), 1);
    EXPECT_EQ(TypeParam(static_cast<float>(halfway) * 0.9999F).bits, largest.bits);
  } else {
    // Numbers of 64 bits are multiples of 2^-52, those of 32 the nearest ones below 1.
    EXPECT_GE(largest, 1 - std::numeric_limits<TypeParam>::epsilon());
  }
}

TEST(RandomNumbers, ElementsFollowFromTheirNumbersAlone) {
  constexpr std::int64_t rows = 7, columns = 5;
  std::vector<double> by_rows(rows * columns), by_columns(rows * columns);
  RandomPass pass;
  pass.kind = Randomness::normal;
  pass.seed = 3;
  pass.data = by_rows.data();
  pass.first = 11;
  pass.loops = {{rows * columns, {1, 1}}};
  kernels::generate(pass);
  pass.data = by_columns.data();
  pass.loops = {{columns, {rows, 1}}, {rows, {1, columns}}};
  kernels::generate(pass);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      EXPECT_EQ(by_rows[static_cast<std::size_t>(i * columns + j)],
                by_columns[static_cast<std::size_t>(j * rows + i)]);
  }
  double one = 0;
  pass.data = &one;
  pass.first = 11 + 17;
  pass.loops = {};
  kernels::generate(pass);
  EXPECT_EQ(one, by_rows[17]);
}

// So that a change of the formulas is seen: what is stored by seed would no longer be found again.
TEST(RandomNumbers, HaveNotChanged) {
  const std::uint64_t bits = mix(scramble(42), 1000);
  EXPECT_EQ(bits, 15569146856290224442U);
  EXPECT_EQ(normal_element<double>(bits), -0x1.87229e18bdcecp-5);
  EXPECT_EQ(uniform_element<double>(bits), 0x1.6042e24ec4462p-1);
}

}  // namespace
}  // namespace partita::testing
