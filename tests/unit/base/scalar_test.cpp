// Numbers with a dtype.
#include "support/test.hpp"

namespace partita {
namespace {

TEST(Scalar, KnowsItsDtypeAndNumber) {
  EXPECT_EQ(Scalar(2.5).dtype(), Dtype::f64);
  EXPECT_EQ(Scalar(std::uint8_t{7}).dtype(), Dtype::u8);
  EXPECT_EQ(Scalar(true).as<bool>(), true);
  EXPECT_EQ(Scalar(std::numeric_limits<std::uint64_t>::max()).as<std::uint64_t>(), ~std::uint64_t{0});
  EXPECT_EQ(Scalar(std::complex<float>(1, -2)).as<std::complex<double>>(), std::complex<double>(1, -2));
  const std::uint16_t half = 0x4100;  // 2.5 in f16
  EXPECT_EQ(Scalar::of(Dtype::f16, &half).as<double>(), 2.5);
  std::uint16_t written = 0;
  Scalar(2.5F).write(Dtype::f16, &written);
  EXPECT_EQ(written, half);
}

TEST(Scalar, IsRoundedButNotCut) {
  EXPECT_EQ(Scalar(0.1).as<float>(), 0.1F);
  EXPECT_EQ(Scalar(3).as<double>(), 3);
  EXPECT_EQ(Scalar(std::int64_t{200}).as<std::uint8_t>(), 200);
  EXPECT_THROW((void)Scalar(2.0).as<int>(), ArgumentError);
  EXPECT_THROW((void)Scalar(300).as<std::uint8_t>(), ArgumentError);
  EXPECT_THROW((void)Scalar(-1).as<std::uint64_t>(), ArgumentError);
  EXPECT_THROW((void)Scalar(std::uint64_t{1} << 63U).as<std::int64_t>(), ArgumentError);
  EXPECT_THROW((void)Scalar(std::complex<double>(1, 0)).as<double>(), ArgumentError);
  EXPECT_THROW((void)Scalar(1).as<bool>(), ArgumentError);
}

TEST(Scalar, OfSixteenBits) {
  EXPECT_EQ(Scalar(Float16(2.5F)).dtype(), Dtype::f16);
  EXPECT_EQ(Scalar(BFloat16(-3.0F)).dtype(), Dtype::bf16);
  EXPECT_EQ(Scalar(Float16(2.5F)).as<double>(), 2.5);
  EXPECT_EQ(Scalar(BFloat16(-3.0F)).as<Float16>(), -3.0F);
  EXPECT_EQ(Scalar(std::uint8_t{7}).as<BFloat16>(), 7.0F);
  EXPECT_EQ(Scalar(Float16(65504.0F)).to_string(), "65504 (f16)");
  EXPECT_EQ(Scalar(Float16(1.0F)), Scalar(Float16(1.0F)));
  EXPECT_THROW((void)Scalar(Float16(1.0F)).as<int>(), ArgumentError);
  EXPECT_THROW((void)Scalar(std::complex<float>(1, 0)).as<Float16>(), ArgumentError);
}

TEST(Scalar, IsRoundedOnce) {
  // By way of f32 these would be ties, and go to the even neighbour.
  EXPECT_EQ(Scalar(1 + 0x1p-11 + 0x1p-30).as<Float16>(), 1 + 0x1p-10F);
  EXPECT_EQ(Scalar(1 + 0x1p-8 + 0x1p-30).as<BFloat16>(), 1 + 0x1p-7F);
  // And by way of f64.
  constexpr std::int64_t tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 38);
  EXPECT_EQ(Scalar(tie + 1).as<float>(), 0x1p62F + 0x1p39F);
  EXPECT_EQ(Scalar(tie + 1).as<std::complex<float>>(), 0x1p62F + 0x1p39F);
  EXPECT_EQ(Scalar(static_cast<std::uint64_t>(tie) + 1).as<float>(), 0x1p62F + 0x1p39F);
}

TEST(Scalar, SaysWhatItIs) {
  EXPECT_EQ(Scalar(2.5).to_string(), "2.5 (f64)");
  EXPECT_EQ(Scalar(-3).to_string(), "-3 (i32)");
  EXPECT_EQ(Scalar(std::complex<float>(1, -2)).to_string(), "1-2i (c64)");
  EXPECT_EQ(Scalar(2), Scalar(2));
  EXPECT_FALSE(Scalar(2) == Scalar(2.0));
}

}  // namespace
}  // namespace partita
