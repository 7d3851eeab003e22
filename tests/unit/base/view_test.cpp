// Views of memory of C++.
#include "support/test.hpp"

namespace partita {
namespace {

void expect_view(const View& seen, const void* data, Dtype dtype, const Shape& extents,
                 const Strides& strides) {
  EXPECT_EQ(seen.data, data);
  EXPECT_EQ(seen.dtype, dtype);
  EXPECT_EQ(seen.extents, extents);
  EXPECT_EQ(seen.strides, strides);
  EXPECT_EQ(seen.space, MemorySpace::host);
}

TEST(View, OfMemoryKnowsDtypeAndExtents) {
  std::vector<double> numbers(6);
  const std::vector<std::int32_t> fixed(3);
  std::array<std::complex<float>, 4> pairs{};
  std::uint8_t bytes[5] = {};
  expect_view(view(numbers), numbers.data(), Dtype::f64, {6}, {1});
  expect_view(view(fixed), fixed.data(), Dtype::i32, {3}, {1});
  expect_view(view(pairs), pairs.data(), Dtype::c64, {4}, {1});
  expect_view(view(bytes), bytes, Dtype::u8, {5}, {1});
  expect_view(view(std::span(numbers).subspan(2, 3)), numbers.data() + 2, Dtype::f64, {3}, {1});
  expect_view(view(numbers, {2, 3}), numbers.data(), Dtype::f64, {2, 3}, {3, 1});
  expect_view(view(numbers, {2, 3}, Order::column_major), numbers.data(), Dtype::f64, {2, 3}, {1, 2});
}

TEST(View, OfConstMemoryIsReadOnly) {
  std::vector<double> numbers(6);
  const std::vector<double> fixed(6);
  const double one = 1;
  double another = 1;
  EXPECT_FALSE(view(numbers).read_only || view(numbers, {2, 3}).read_only || view(another).read_only);
  EXPECT_TRUE(view(fixed).read_only && view(fixed, {2, 3}).read_only && view(one).read_only);
  EXPECT_TRUE(view(std::span<const double>(numbers)).read_only && view(std::as_const(numbers)).read_only);
}

TEST(View, OfANumberHasNoDimensions) {
  double number = 2;
  const std::int64_t fixed = 3;
  expect_view(view(number), &number, Dtype::f64, {}, {});
  expect_view(view(fixed), &fixed, Dtype::i64, {}, {});
}

TEST(View, OfNothingIsEmpty) {
  std::vector<float> none;
  EXPECT_EQ(view(none).extents, Shape({0}));
  EXPECT_EQ(view(none, {3, 0}).extents, Shape({3, 0}));
}

TEST(View, RefusesOtherExtentsThanTheMemoryHas) {
  std::vector<float> numbers(6);
  EXPECT_THROW((void)view(numbers, {2, 4}), ArgumentError);
  EXPECT_THROW((void)view(numbers, {5}), ArgumentError);
  EXPECT_THROW((void)view(numbers, {-6}), ArgumentError);
}

// A vector that is destroyed at once cannot be seen.
template <class Memory>
concept Viewable = requires(Memory&& memory) {
  view(std::forward<Memory>(memory));
};
static_assert(Viewable<std::vector<double>&> && Viewable<std::span<double>>);
static_assert(!Viewable<std::vector<double>>);

}  // namespace
}  // namespace partita
