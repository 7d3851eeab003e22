#include "base/half.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

TEST(Reduction, NamesRoundTrip) {
  for (const Reduction reduction : {Reduction::sum, Reduction::min, Reduction::max}) {
    EXPECT_EQ(parse_reduction(name(reduction)), reduction);
  }
  EXPECT_THROW(parse_reduction("average"), ArgumentError);
  EXPECT_THROW(parse_reduction(""), ArgumentError);
}

TEST(Reduction, ComplexNumbersHaveNoOrder) {
  std::complex<double> element;
  EXPECT_TRUE(is_defined(Reduction::sum, Dtype::c128));
  EXPECT_FALSE(is_defined(Reduction::min, Dtype::c64));
  EXPECT_TRUE(is_defined(Reduction::max, Dtype::boolean));
  EXPECT_THROW(write_identity(Reduction::max, Dtype::c128, &element), ArgumentError);
}

template <class T>
T identity(Reduction reduction, Dtype dtype = dtype_of<T>()) {
  std::array<std::byte, 32> room;
  room.fill(std::byte{0x5a});
  write_identity(reduction, dtype, room.data());
  for (std::size_t i = sizeof(T); i < room.size(); ++i) EXPECT_EQ(room[i], std::byte{0x5a});
  T value;
  std::memcpy(&value, room.data(), sizeof value);
  return value;
}

TEST(Reduction, Identities) {
  EXPECT_EQ(identity<double>(Reduction::sum), 0.0);
  EXPECT_EQ(identity<double>(Reduction::min), std::numeric_limits<double>::infinity());
  EXPECT_EQ(identity<float>(Reduction::max), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(identity<std::int8_t>(Reduction::min), 127);
  EXPECT_EQ(identity<std::int8_t>(Reduction::max), -128);
  EXPECT_EQ(identity<std::uint64_t>(Reduction::min), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(identity<std::uint16_t>(Reduction::max), 0);
  EXPECT_EQ(identity<std::uint8_t>(Reduction::sum, Dtype::boolean), 0);
  EXPECT_EQ(identity<std::uint8_t>(Reduction::min, Dtype::boolean), 1);
  EXPECT_EQ(identity<std::uint8_t>(Reduction::max, Dtype::boolean), 0);
  EXPECT_EQ(identity<std::uint16_t>(Reduction::min, Dtype::f16), 0x7c00);
  EXPECT_EQ(identity<std::uint16_t>(Reduction::max, Dtype::bf16), 0xff80);
  EXPECT_EQ(identity<std::complex<double>>(Reduction::sum), std::complex<double>(0, 0));
}

// The value of a binary16 number by its definition.
float float16_by_definition(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return sign * (mantissa == 0 ? INFINITY : NAN);
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

TEST(Half, EveryFloat16RoundTrips) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const Float16 half = Float16::from_bits(static_cast<std::uint16_t>(i));
    const float value = to_float(half);
    const float expected = float16_by_definition(half.bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_TRUE(std::isnan(to_float(to_float16(value))));
      continue;
    }
    EXPECT_EQ(value, expected);
    EXPECT_EQ(std::signbit(value), std::signbit(expected));
    EXPECT_EQ(to_float16(value).bits, half.bits);
  }
}

// Between two neighbours: the nearer one, and the even one from the middle.
TEST(Half, Float16RoundsToNearestEven) {
  for (std::uint32_t i = 0; i < 0x7bff; ++i) {
    const auto low_bits = static_cast<std::uint16_t>(i);
    const auto high_bits = static_cast<std::uint16_t>(i + 1);
    const float low = to_float(Float16::from_bits(low_bits));
    const float high = to_float(Float16::from_bits(high_bits));
    const float middle = 0.5f * (low + high);
    const std::uint16_t even = i % 2 == 0 ? low_bits : high_bits;
    EXPECT_EQ(to_float16(middle).bits, even);
    EXPECT_EQ(to_float16(std::nextafter(middle, low)).bits, low_bits);
    EXPECT_EQ(to_float16(-std::nextafter(middle, high)).bits, high_bits | 0x8000);
  }
  EXPECT_EQ(to_float16(65519.996f).bits, 0x7bff);
  EXPECT_EQ(to_float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(to_float16(1e30f).bits, 0x7c00);
  EXPECT_EQ(to_float16(-INFINITY).bits, 0xfc00);
  EXPECT_EQ(to_float16(1e-30f).bits, 0);
}

TEST(Half, BFloat16) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const BFloat16 half = BFloat16::from_bits(static_cast<std::uint16_t>(i));
    const float value = to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(to_float(to_bfloat16(value))));
    } else {
      EXPECT_EQ(to_bfloat16(value).bits, half.bits);
    }
  }
  EXPECT_EQ(to_bfloat16(1.00390625f).bits, 0x3f80);    // halfway: to the even neighbour
  EXPECT_EQ(to_bfloat16(1.01171875f).bits, 0x3f82);    // halfway: to the even neighbour
  EXPECT_EQ(to_bfloat16(1.0039063692f).bits, 0x3f81);  // just above half
  EXPECT_EQ(to_bfloat16(3.4e38f).bits, 0x7f80);
}

}  // namespace
}  // namespace partita
