// Numbers of 8 bits, all of them, against their definition.
#include "support/test.hpp"

namespace partita {
namespace {

static_assert(dtype_of<Float8E4M3>() == Dtype::f8e4m3 && dtype_of<Float8E5M2>() == Dtype::f8e5m2);
static_assert(dtype_of<__nv_fp8_e4m3>() == Dtype::f8e4m3 && dtype_of<__nv_fp8_e5m2>() == Dtype::f8e5m2);
static_assert(sizeof(Float8E4M3) == 1 && std::is_trivially_copyable_v<Float8E4M3>);
static_assert(sizeof(Float8E5M2) == 1 && std::is_trivially_copyable_v<Float8E5M2>);
static_assert(Float8E4M3(1.0F).bits == 0x38 && Float8E5M2(1.0F).bits == 0x3c);
static_assert(Float8E4M3(0.5F) + Float8E5M2(1.5F) == 2.0F);

/// What the standard says of a format.
struct Format {
  int mantissa, bias;
  bool infinities;
  std::uint8_t largest;  ///< the bits of the largest number

  float value(int bits) const {
    const int exponent = (bits & 0x7f) >> mantissa, fraction = bits & ((1 << mantissa) - 1);
    const float sign = (bits & 0x80) != 0 ? -1.0F : 1.0F;
    if ((bits & 0x7f) > largest) return std::copysign(infinities && fraction == 0 ? INFINITY : NAN, sign);
    const int whole = exponent == 0 ? fraction : fraction + (1 << mantissa);
    return sign * std::ldexp(static_cast<float>(whole), std::max(exponent, 1) - bias - mantissa);
  }
};
constexpr Format e4m3{3, 7, false, 0x7e}, e5m2{2, 15, true, 0x7b};

template <class Small>
void expect_values(const Format& format) {
  for (int bits = 0; bits < 256; ++bits) {
    const auto number = Small::from_bits(static_cast<std::uint8_t>(bits));
    const float expected = format.value(bits);
    const Small back(number);
    EXPECT_EQ(std::signbit(static_cast<float>(number)), std::signbit(expected)) << bits;
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(number)) << bits;
      EXPECT_TRUE(std::isnan(Small(static_cast<float>(number)))) << bits;
      EXPECT_EQ(Small(static_cast<float>(number)).bits & 0x80, bits & 0x80);
      continue;
    }
    EXPECT_EQ(static_cast<float>(number), expected) << bits;
    EXPECT_EQ(Small(expected).bits, bits);
    EXPECT_EQ(back.bits, bits);
  }
}

TEST(Float8, HasTheValuesOfTheStandard) {
  expect_values<Float8E4M3>(e4m3);
  expect_values<Float8E5M2>(e5m2);
  EXPECT_EQ(Float8E4M3::from_bits(0x7e), 448.0F);
  EXPECT_EQ(Float8E4M3::from_bits(1), 0x1p-9F);
  EXPECT_EQ(Float8E5M2::from_bits(0x7b), 57344.0F);
  EXPECT_EQ(Float8E5M2::from_bits(1), 0x1p-16F);
}

// Between two neighbours: the nearer one, and the even one from the middle.
template <class Small>
void expect_rounding(const Format& format) {
  for (int bits = 0; bits < format.largest; ++bits) {
    const float low = format.value(bits), high = format.value(bits + 1), middle = 0.5F * (low + high);
    EXPECT_EQ(Small(middle).bits, bits + bits % 2) << bits;
    EXPECT_EQ(Small(std::nextafter(middle, low)).bits, bits);
    EXPECT_EQ(Small(-std::nextafter(middle, high)).bits, (bits + 1) | 0x80);
  }
}

TEST(Float8, RoundsToNearestEven) {
  expect_rounding<Float8E4M3>(e4m3);
  expect_rounding<Float8E5M2>(e5m2);
  for (const float tiny : {0x1p-149F, 1e-30F, 0x1p-18F}) {
    EXPECT_EQ(Float8E4M3(tiny).bits, 0);
    EXPECT_EQ(Float8E5M2(-tiny).bits, 0x80);
  }
}

TEST(Float8, BeyondTheLargestNumber) {
  EXPECT_EQ(Float8E4M3(464.0F).bits, 0x7e);  // the middle, to the even one
  for (const float value : {std::nextafter(464.0F, 1e9F), 1e30F, INFINITY}) {
    EXPECT_EQ(Float8E4M3(value).bits, 0x7f);
    EXPECT_EQ(Float8E4M3(-value).bits, 0xff);
  }
  EXPECT_EQ(Float8E5M2(std::nextafter(61440.0F, 0.0F)).bits, 0x7b);
  for (const float value : {61440.0F, 1e30F, INFINITY}) {
    EXPECT_EQ(Float8E5M2(value).bits, 0x7c);
    EXPECT_EQ(Float8E5M2(-value).bits, 0xfc);
  }
  EXPECT_EQ(Float8E5M2(-std::numeric_limits<float>::quiet_NaN()).bits, 0xfe);
}

TEST(Float8, HasNamesAndScalars) {
  EXPECT_EQ(parse_dtype("float8_e4m3fn"), Dtype::f8e4m3);
  EXPECT_EQ(parse_dtype("f8e5m2"), Dtype::f8e5m2);
  EXPECT_EQ(size_of(Dtype::f8e4m3), 1);
  EXPECT_TRUE(is_float8(Dtype::f8e5m2) && !is_float8(Dtype::f16) && !is_float8(Dtype::u8));
  EXPECT_FALSE(is_integer(Dtype::f8e4m3) || is_signed(Dtype::f8e4m3) || is_complex(Dtype::f8e4m3));
  const Scalar scalar(Float8E4M3(2.5F));
  EXPECT_EQ(scalar.dtype(), Dtype::f8e4m3);
  EXPECT_EQ(scalar.as<double>(), 2.5);
  EXPECT_EQ(Scalar(2.6).as<Float8E5M2>(), 2.5F);
}

}  // namespace
}  // namespace partita
