// C++ types and their dtypes: settled while this compiles.
#include <gtest/gtest.h>

#include <partita/dtype.hpp>

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
}

}  // namespace
}  // namespace partita
