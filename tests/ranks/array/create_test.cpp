// Arrays that begin with something in them, on the host or (PARTITA_TEST_DEVICE) on devices.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// Every element of the rank's part is expected(its number).
template <class T, class Expected>
void expect_numbers(const Array& array, Expected&& expected) {
  ASSERT_EQ(array.dtype(), dtype_of<T>());
  visit_rows(array, [&](const arrays::ElementRow& row) {
    row.visit<T>([&](std::int64_t number, const T& element) { EXPECT_EQ(element, expected(number)); });
  });
}

RANK_TEST(Create, FullOfOneValue) {
  const Distribution blocks = BlockCyclic({1, context.size()}, {2, 3});
  expect_numbers<float>(full(context, {5, 7}, blocks, 2.5F), [](std::int64_t) { return 2.5F; });
  expect_numbers<std::complex<double>>(full(context, {5, 7}, blocks, std::complex<double>(1, -2)),
                                       [](std::int64_t) { return std::complex<double>(1, -2); });
  const Array flags = full(context, {5}, Replicated(), true, {.residency = Residency::ordinary});
  EXPECT_EQ(flags.dtype(), Dtype::boolean);
  EXPECT_EQ(flags.operand().residency, Residency::ordinary);
  if (context.size() == 1) return;
  EXPECT_ERROR_ON_ALL(DisagreementError, full(context, {5}, Slab(0), context.rank() + 0.5),
                      "value: 0.5 (f64) on rank 0; 1.5 (f64) on rank 1");
}

RANK_TEST(Create, RangesOfSeveralTypes) {
  const std::vector<int> seven(7);
  const long long_stop = 7;
  const auto check_range = [&](const Array& range, std::int64_t first, std::int64_t step,
                               std::int64_t count) {
    EXPECT_EQ(range.dtype(), Dtype::i64);
    EXPECT_EQ(range.shape(), Shape({count}));
    expect_numbers<std::int64_t>(range, [&](std::int64_t i) { return first + step * i; });
  };
  check_range(arange(context, 0, long_stop, Slab(0)), 0, 1, 7);
  check_range(arange(context, 0, seven.size(), Slab(0)), 0, 1, 7);
  check_range(arange(context, -2, seven.size(), 3, Slab(0)), -2, 3, 3);
  check_range(arange(context, seven.size(), 0U, -2, Slab(0)), 7, -2, 4);
  EXPECT_EQ(arange(context, 0U, seven.size(), Slab(0)).dtype(), Dtype::u64);
  EXPECT_EQ(arange(context, 2, 7, Slab(0)).dtype(), Dtype::i32);
  const Array halves = arange(context, 0, 2, 0.5, Slab(0));
  EXPECT_EQ(halves.dtype(), Dtype::f64);
  EXPECT_EQ(halves.shape(), Shape({4}));
  EXPECT_EQ(arange(context, 0, 3, 0.5F, Slab(0)).dtype(), Dtype::f32);
  EXPECT_THROW((void)arange(context, 0, std::numeric_limits<std::uint64_t>::max(), Slab(0)), ArgumentError);
}

RANK_TEST(Create, RangesAreThoseOfNumPy) {
  const Array counted = arange(context, 11, Slab(0));
  EXPECT_EQ(counted.dtype(), Dtype::i32);
  EXPECT_EQ(counted.shape(), Shape({11}));
  expect_numbers<std::int32_t>(counted, [](std::int64_t i) { return static_cast<std::int32_t>(i); });

  const Array down = arange(context, std::int64_t{10}, std::int64_t{-1}, std::int64_t{-3}, Slab(0));
  EXPECT_EQ(down.shape(), Shape({4}));
  expect_numbers<std::int64_t>(down, [](std::int64_t i) { return 10 - 3 * i; });

  const Array tenths = arange(context, 0.0, 1.05, 0.1, BlockCyclic({context.size()}, {2}));
  EXPECT_EQ(tenths.shape(), Shape({11}));
  expect_numbers<double>(tenths, [](std::int64_t i) { return 0.0 + static_cast<double>(i) * 0.1; });

  // As NumPy of numpy.float32: 0.3F / 0.1F is a little more than 3, and is rounded to it.
  EXPECT_EQ(arange(context, 0.0F, 0.3F, 0.1F, Slab(0)).shape(), Shape({3}));
  EXPECT_EQ(arange(context, 0.0F, 1.0F, 0.1F, Slab(0)).shape(), Shape({10}));
  EXPECT_EQ(arange(context, 0.0F, 1.01F, 0.1F, Slab(0)).shape(), Shape({11}));
  EXPECT_EQ(arange(context, 5, 5, 1, Slab(0)).shape(), Shape({0}));
  EXPECT_EQ(arange(context, 5, 4, 1, Slab(0)).shape(), Shape({0}));
  EXPECT_EQ(arange(context, 0.0F, -1.0F, 0.5F, Slab(0)).shape(), Shape({0}));
  const auto top = std::numeric_limits<std::uint64_t>::max();
  const Array high = arange(context, top - 4, top, std::uint64_t{2}, Replicated());
  EXPECT_EQ(high.shape(), Shape({2}));
  expect_numbers<std::uint64_t>(high,
                                [&](std::int64_t i) { return top - 4 + 2 * static_cast<std::uint64_t>(i); });
}

RANK_TEST(Create, RangesThatAreNoneAreErrors) {
  const auto refused = [&](auto start, auto stop, auto step) {
    EXPECT_ERROR_ON_ALL(ArgumentError, arange(context, start, stop, step, Slab(0)));
  };
  refused(0, 5, 0);
  refused(0.0, 1.0, 0.0);
  refused(0.0, std::numeric_limits<double>::infinity(), 1.0);
  refused(0.0, std::nan(""), 1.0);
  const std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
  refused(std::uint64_t{0}, top, std::uint64_t{1});
  if (context.size() > 1)
    EXPECT_ERROR_ON_ALL(DisagreementError, arange(context, 5 + context.rank(), Slab(0)));
}

RANK_TEST(Create, OnesOnADiagonal) {
  for (const std::int64_t diagonal : {0, 2, -3}) {
    for (const Dtype dtype : {Dtype::f64, Dtype::bf16, Dtype::boolean, Dtype::c64}) {
      const Array ones = eye(context, 6, 8, BlockCyclic({context.size(), 1}, {2, 3}), dtype, diagonal);
      each_element(ones, [&](std::int64_t number, auto& element) {
        using T = std::decay_t<decltype(element)>;
        const T one = [] {
          if constexpr (is_small_float_type<T>)
            return from_float<T>(1.0F);
          else
            return static_cast<T>(1);
        }();
        EXPECT_TRUE(same_value(element, number / 8 + diagonal == number % 8 ? one : make_value<T>(0)));
      });
    }
  }
}

RANK_TEST(Create, NormalNumbersDoNotDependOnTheDistribution) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::c64, Dtype::c128}) {
    Array slabs = empty(context, {19, 11}, Slab(0), dtype);
    Array blocks = empty(context, {19, 11}, BlockCyclic({1, context.size()}, {3, 2}), dtype);
    fill_normal(slabs, 42);
    fill_normal(blocks, 42);
    EXPECT_TRUE(compare(slabs, blocks).equal);
    fill_normal(blocks, 43);
    EXPECT_FALSE(compare(slabs, blocks).equal);
  }
  Array integers = empty(context, {5}, Slab(0), Dtype::i32);
  EXPECT_ERROR(ArgumentError, fill_normal(integers, 1), "i32");
}

RANK_TEST(Create, NormalNumbersHaveTheMomentsOfTheNormalDistribution) {
  constexpr std::int64_t count = 40000;
  Array array = empty(context, {count}, Replicated(), Dtype::c128);
  fill_normal(array, 7);
  double mean = 0, square = 0, fourth = 0, mixed = 0;
  std::int64_t within = 0;
  each_element(array, [&](std::int64_t, auto& element) {
    if constexpr (std::is_same_v<std::decay_t<decltype(element)>, std::complex<double>>) {
      const double x = element.real(), y = element.imag();
      mean += (x + y) / (2 * count);
      square += (x * x + y * y) / (2 * count);
      fourth += (x * x * x * x + y * y * y * y) / (2 * count);
      mixed += x * y / count;
      within += (std::abs(x) < 1 ? 1 : 0);
    }
  });
  EXPECT_LT(std::abs(mean), 0.02);
  EXPECT_LT(std::abs(square - 1), 0.03);
  EXPECT_LT(std::abs(fourth - 3), 0.2);
  EXPECT_LT(std::abs(mixed), 0.03);
  EXPECT_LT(std::abs(static_cast<double>(within) / count - 0.6827), 0.02);
}

}  // namespace
}  // namespace partita::testing
