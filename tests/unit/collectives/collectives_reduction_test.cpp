// The reductions beyond sum, min and max.
#include "kernels/host/copy.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

template <class T>
T joined(Reduction reduction, T to, T from) {
  kernels::StridedCopy nest{static_cast<std::int64_t>(sizeof(T)), 0, 0, {}};
  kernels::accumulate(nest, dtype_of<T>(), reduction, &from, &to);
  return to;
}

TEST(Reductions, NamesRoundTrip) {
  for (int i = 0; i < reduction_count; ++i) {
    const auto reduction = static_cast<Reduction>(i);
    EXPECT_EQ(parse_reduction(name(reduction)), reduction);
  }
  EXPECT_THROW(parse_reduction("xor"), ArgumentError);
}

TEST(Reductions, WhatIsDefined) {
  for (const Reduction reduction : {Reduction::logical_and, Reduction::bit_xor}) {
    EXPECT_TRUE(is_defined(reduction, Dtype::boolean));
    EXPECT_TRUE(is_defined(reduction, Dtype::u64));
    EXPECT_FALSE(is_defined(reduction, Dtype::f16));
    EXPECT_FALSE(is_defined(reduction, Dtype::c64));
  }
  EXPECT_TRUE(is_defined(Reduction::product, Dtype::c128));
  float one = 1;
  EXPECT_THROW(kernels::accumulate({4, 0, 0, {}}, Dtype::f32, Reduction::bit_or, &one, &one), ArgumentError);
}

// x op identity = x, of the reductions that keep values
TEST(Reductions, TheIdentityChangesNothing) {
  for (const Reduction reduction : {Reduction::sum, Reduction::min, Reduction::max, Reduction::product,
                                    Reduction::bit_and, Reduction::bit_or, Reduction::bit_xor}) {
    for (const int number : {-128, -1, 0, 5, 127}) {
      const auto value = static_cast<std::int8_t>(number);
      std::int8_t identity = 0;
      write_identity(reduction, Dtype::i8, &identity);
      EXPECT_EQ(joined(reduction, value, identity), value) << name(reduction);
    }
  }
  std::complex<float> one;
  write_identity(Reduction::product, Dtype::c64, &one);
  EXPECT_EQ(one, std::complex<float>(1, 0));
}

TEST(Reductions, Values) {
  EXPECT_EQ(joined<std::int8_t>(Reduction::product, 100, 3), static_cast<std::int8_t>(300 - 256));
  EXPECT_EQ(joined<std::uint16_t>(Reduction::product, 65535, 65535), 1);
  EXPECT_EQ(joined<std::complex<double>>(Reduction::product, {1, 2}, {3, -1}), std::complex<double>(5, 5));
  EXPECT_EQ(joined<std::int32_t>(Reduction::logical_and, 4, 2), 1);
  EXPECT_EQ(joined<std::int32_t>(Reduction::logical_xor, 4, 2), 0);
  EXPECT_EQ(joined<std::int32_t>(Reduction::logical_or, 0, 0), 0);
  EXPECT_EQ(joined<std::int32_t>(Reduction::bit_and, -2, 7), 6);
  EXPECT_EQ(joined<std::uint64_t>(Reduction::bit_xor, 12, 10), 6U);
  EXPECT_EQ(joined(Reduction::logical_xor, true, true), false);
  EXPECT_EQ(joined(Reduction::product, true, false), false);
}

}  // namespace
}  // namespace partita
