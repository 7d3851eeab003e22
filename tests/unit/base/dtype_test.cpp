// C++ types and their dtypes: settled while this compiles.
#include "support/test.hpp"

namespace partita {
namespace {

static_assert(dtype_of<bool>() == Dtype::boolean);
static_assert(dtype_of<std::int8_t>() == Dtype::i8 && dtype_of<std::uint8_t>() == Dtype::u8);
static_assert(dtype_of<std::int16_t>() == Dtype::i16 && dtype_of<std::uint16_t>() == Dtype::u16);
static_assert(dtype_of<std::int32_t>() == Dtype::i32 && dtype_of<std::uint32_t>() == Dtype::u32);
static_assert(dtype_of<std::int64_t>() == Dtype::i64 && dtype_of<std::uint64_t>() == Dtype::u64);
// Several types of one size are one dtype.
static_assert(dtype_of<long>() == (sizeof(long) == 8 ? Dtype::i64 : Dtype::i32));
static_assert(dtype_of<unsigned long>() == (sizeof(long) == 8 ? Dtype::u64 : Dtype::u32));
static_assert(dtype_of<long long>() == Dtype::i64 && dtype_of<unsigned long long>() == Dtype::u64);
static_assert(dtype_of<float>() == Dtype::f32 && dtype_of<double>() == Dtype::f64);
static_assert(dtype_of<std::complex<float>>() == Dtype::c64);
static_assert(dtype_of<std::complex<double>>() == Dtype::c128);
static_assert(dtype_of<Float16>() == Dtype::f16 && dtype_of<BFloat16>() == Dtype::bf16);
static_assert(dtype_of<__half>() == Dtype::f16 && dtype_of<__nv_bfloat16>() == Dtype::bf16);
#if defined(__FLT16_MAX__) && !defined(__clang__)
static_assert(dtype_of<_Float16>() == Dtype::f16);
#endif
static_assert(sizeof(Float16) == 2 && std::is_trivially_copyable_v<Float16>);
static_assert(sizeof(BFloat16) == 2 && std::is_trivially_copyable_v<BFloat16>);

template <class T>
void expect_its_size() {
  EXPECT_EQ(size_of(dtype_of<T>()), static_cast<std::int64_t>(sizeof(T))) << name(dtype_of<T>());
}

TEST(Dtype, OfATypeHasItsSize) {
  expect_its_size<bool>();
  expect_its_size<signed char>();
  expect_its_size<unsigned short>();
  expect_its_size<int>();
  expect_its_size<long>();
  expect_its_size<unsigned long long>();
  expect_its_size<double>();
  expect_its_size<std::complex<double>>();
  expect_its_size<Float16>();
  expect_its_size<BFloat16>();
}

TEST(Dtype, HalvesComputeAsFloats) {
  const Float16 third(1.0f / 3);
  EXPECT_NEAR(third, 1.0 / 3, 1e-3);
  EXPECT_EQ(Float16(0.5f) + Float16(1.5f), 2.0f);
  EXPECT_LT(BFloat16(-2.0f), BFloat16(1.0f));
  EXPECT_EQ(Float16(1.0f).bits, 0x3c00);
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(Float16(), 0.0f);
}

TEST(ComputeType, HasANameEach) {
  EXPECT_EQ(name(ComputeType::automatic), "automatic");
  EXPECT_EQ(name(ComputeType::f64), "f64");
  EXPECT_EQ(name(static_cast<ComputeType>(words_of<ComputeType>().size())), "unknown");
}

}  // namespace
}  // namespace partita
