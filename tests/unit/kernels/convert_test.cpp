// Conversions of elements, with the numbers at which they may go wrong.
#include "kernels/host/convert.hpp"

#include "base/half.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

void convert_views(const View& from, const View& to) {
  kernels::convert(kernels::conversion_nest(from, to), from.dtype, to.dtype, from.data, to.data);
}

template <class To, class From>
To converted(From value) {
  To result{};
  convert_views(View{&value, dtype_of<From>(), {}, {}, MemorySpace::host},
                View{&result, dtype_of<To>(), {}, {}, MemorySpace::host});
  return result;
}

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

TEST(Convert, CutsOffFractionsAndKeepsToTheRange) {
  EXPECT_EQ(converted<std::int32_t>(2.9), 2);
  EXPECT_EQ(converted<std::int32_t>(-2.9F), -2);
  EXPECT_EQ(converted<std::int8_t>(127.9), 127);
  EXPECT_EQ(converted<std::int8_t>(128.0), 127);
  EXPECT_EQ(converted<std::int8_t>(-1e300), -128);
  EXPECT_EQ(converted<std::uint8_t>(-0.5), 0);
  EXPECT_EQ(converted<std::uint8_t>(-5.0), 0);
  EXPECT_EQ(converted<std::uint8_t>(255.5), 255);
  EXPECT_EQ(converted<std::uint8_t>(256.0), 255);
  EXPECT_EQ(converted<std::int64_t>(0x1p63), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(converted<std::int64_t>(-0x1p63), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(converted<std::uint64_t>(0x1p64), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(converted<std::uint64_t>(0x1p63), std::uint64_t{1} << 63);
  EXPECT_EQ(converted<std::int16_t>(infinity), 32767);
  EXPECT_EQ(converted<std::int16_t>(not_a_number), 0);
}

TEST(Convert, IntegersKeepTheirLowBits) {
  EXPECT_EQ(converted<std::uint8_t>(std::int32_t{-1}), 255);
  EXPECT_EQ(converted<std::int8_t>(std::uint64_t{0x1ff}), -1);
  EXPECT_EQ(converted<std::uint64_t>(std::int16_t{-2}), std::numeric_limits<std::uint64_t>::max() - 1);
  EXPECT_EQ(converted<std::int64_t>(true), 1);
}

TEST(Convert, RoundsOnce) {
  // Just above the middle between 1 and the next f16: by way of f32 it would be the middle, and go to 1.
  EXPECT_EQ(converted<Float16>(1 + 0x1p-11 + 0x1p-40).bits, to_float16(1 + 0x1p-10F).bits);
  EXPECT_EQ(converted<Float16>(1 + 0x1p-11).bits, to_float16(1.0F).bits);
  EXPECT_EQ(converted<Float16>(-(1 + 0x1p-11 + 0x1p-40)).bits, to_float16(-(1 + 0x1p-10F)).bits);
  EXPECT_EQ(converted<BFloat16>(1 + 0x1p-8 + 0x1p-45).bits, to_bfloat16(1 + 0x1p-7F).bits);
  EXPECT_EQ(converted<BFloat16>((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1).bits,
            to_bfloat16(0x1p62F + 0x1p55F).bits);
  EXPECT_EQ(converted<BFloat16>((std::uint64_t{1} << 63) + (std::uint64_t{1} << 55)).bits,
            to_bfloat16(0x1p63F).bits);
  EXPECT_EQ(converted<BFloat16>(-(std::int64_t{1} << 62) - (std::int64_t{1} << 54) - 1).bits,
            to_bfloat16(-0x1p62F - 0x1p55F).bits);
  const std::int64_t above = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  EXPECT_EQ(converted<float>(above), static_cast<float>(above));
  EXPECT_EQ(converted<Float16>(1e6).bits, 0x7c00);
  EXPECT_EQ(converted<Float16>(0x1p-24 * 0.75).bits, 1);
  EXPECT_EQ(converted<float>(1e300), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(to_float(converted<Float16>(not_a_number))));
  EXPECT_EQ(to_float(converted<Float16>(-infinity)), -infinity);
}

TEST(Convert, ComplexAndBoolean) {
  EXPECT_EQ(converted<std::complex<float>>(2.5), std::complex<float>(2.5F, 0));
  EXPECT_EQ(converted<std::complex<double>>(std::complex<float>(1, -2)), std::complex<double>(1, -2));
  EXPECT_EQ(converted<std::complex<double>>(std::uint8_t{200}), std::complex<double>(200, 0));
  EXPECT_TRUE(converted<bool>(std::complex<double>(0, 1)));
  EXPECT_FALSE(converted<bool>(-0.0));
  EXPECT_TRUE(converted<bool>(0.1F));
  EXPECT_TRUE(converted<bool>(not_a_number));
  EXPECT_EQ(converted<float>(true), 1.0F);
  EXPECT_THROW((void)converted<float>(std::complex<float>(1, 0)), ArgumentError);
}

template <class Small>
void expect_each_is_kept() {
  for (int bits = 0; bits < 1 << (8 * sizeof(Small)); ++bits) {
    const auto number = Small::from_bits(static_cast<decltype(Small::bits)>(bits));
    if (std::isnan(to_float(number))) continue;
    ASSERT_EQ(converted<double>(number), static_cast<double>(to_float(number)));
    ASSERT_EQ(converted<Small>(converted<double>(number)).bits, number.bits);
  }
}

TEST(Convert, EverySmallFloatIsKept) {
  expect_each_is_kept<Float16>();
  expect_each_is_kept<Float8E4M3>();
  expect_each_is_kept<Float8E5M2>();
}

TEST(Convert, NumbersOf8Bits) {
  EXPECT_EQ(converted<Float8E4M3>(1 + 0x1p-4 + 0x1p-40).bits, Float8E4M3(1.125F).bits);
  EXPECT_EQ(converted<Float8E4M3>(1 + 0x1p-4).bits, Float8E4M3(1.0F).bits);
  EXPECT_EQ(converted<Float8E5M2>(-(1 + 0x1p-3 + 0x1p-50)).bits, Float8E5M2(-1.25F).bits);
  EXPECT_EQ(converted<Float8E4M3>(464.0).bits, 0x7e);
  EXPECT_EQ(converted<Float8E4M3>(465.0).bits, 0x7f);
  EXPECT_EQ(converted<Float8E4M3>(-1e300).bits, 0xff);
  EXPECT_EQ(converted<Float8E5M2>(1e300).bits, 0x7c);
  EXPECT_EQ(converted<Float8E5M2>(std::numeric_limits<std::int64_t>::min()).bits, 0xfc);
  EXPECT_EQ(converted<Float8E4M3>(std::int32_t{-7}).bits, Float8E4M3(-7.0F).bits);
  EXPECT_EQ(converted<std::int8_t>(Float8E4M3(-300.0F)), -128);
  EXPECT_EQ(converted<std::uint8_t>(Float8E5M2::from_bits(0x7f)), 0);
  EXPECT_TRUE(converted<bool>(Float8E5M2(0x1p-16F)));
  EXPECT_EQ(converted<std::complex<float>>(Float8E5M2(3.5F)), std::complex<float>(3.5F, 0));
}

TEST(Convert, AnyStrides) {
  std::vector<float> from(2 * 3 * 700);
  std::iota(from.begin(), from.end(), 0.0F);
  std::vector<std::int32_t> to(2 * from.size(), -1);
  // Column-major to every second element of row-major ones, longer than a piece.
  const View source = View::dense(from.data(), Dtype::f32, {3, 700, 2}, Order::column_major);
  View target = View::dense(to.data(), Dtype::i32, {3, 700, 2});
  for (std::int64_t& stride : target.strides) stride *= 2;
  convert_views(source, target);
  for (std::size_t i = 1; i < to.size(); i += 2) ASSERT_EQ(to[i], -1);
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 700; ++j) {
      for (std::int64_t k = 0; k < 2; ++k) {
        ASSERT_EQ(to[static_cast<std::size_t>(2 * (i * 1400 + j * 2 + k))], i + 3 * j + 2100 * k);
      }
    }
  }
}

}  // namespace
}  // namespace partita
