// Sums and products of the elements up to each one, against loops over all elements.
#include <partita/astype.hpp>
#include <partita/create.hpp>
#include <partita/elements.hpp>
#include <partita/redistribute.hpp>
#include <partita/scans.hpp>

#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

const Shape scanned{7, 5, 3};

double scanned_value(const Index& index) {
  return static_cast<double>((index[0] * 7 + index[1] * 5 + index[2] * 2) % 5) - 2;
}

/// Along an axis, of the elements up to this one.
double joined_at(Index index, int axis, bool product) {
  double result = product ? 1 : 0;
  for (std::int64_t left = index[axis] + 1; left > 0; --left) {
    index[axis] = left - 1;
    const double x = scanned_value(index);
    result = product ? result * x : result + x;
  }
  return result;
}

RANK_TEST(Scans, AreThoseOfAllElementsInEveryLayout) {
  std::vector<Distribution> rules{Slab(0), Slab(1), Slab(2), Replicated(),
                                  BlockCyclic({context.size(), 1, 1}, {1, 2, 3})};
  if (context.size() == 2) rules.push_back(Box::from_cuts({{0, 1, 7}, {0, 5}, {0, 3}}));
  for (const Distribution& rule : rules) {
    Array a = empty(context, scanned, rule);
    fill(a, scanned_value);
    for (const Dtype dtype : {Dtype::f64, Dtype::f16, Dtype::i8, Dtype::i32, Dtype::c64}) {
      const Array x = astype(a, dtype);
      for (int axis = 0; axis < 3; ++axis) {
        for (const bool product : {false, true}) {
          const Array found = product ? cumprod(x, axis) : cumsum(x, axis);
          EXPECT_TRUE(found.layout().equivalent(x.layout()));
          EXPECT_EQ(found.dtype(), dtype == Dtype::f16 ? Dtype::f32 : is_integer(dtype) ? Dtype::i64 : dtype);
          const Array numbers = is_complex(dtype) ? clone(real(found)) : found;
          for_each_local<double>(clone(astype(numbers, Dtype::f64), {.space = MemorySpace::host}),
                                 [&](const Index& index, double sum) {
                                   EXPECT_EQ(sum, joined_at(index, axis, product)) << to_string(index);
                                 });
        }
      }
    }
    const Array transposed = cumsum(transpose(a), 1), other = cumsum(a, 1);
    EXPECT_TRUE(allclose(transpose(transposed), other, 0, 0));
    const Array narrow = astype(a, Dtype::f32);
    const Array wide = cumulate(narrow, 1, Reduction::sum, Dtype::f64),
                strided = cumulate(transpose(narrow), 1, Reduction::sum, Dtype::f64);
    EXPECT_EQ(wide.dtype(), Dtype::f64);
    EXPECT_TRUE(allclose(wide, other, 0, 0));
    EXPECT_TRUE(allclose(transpose(strided), other, 0, 0));
    EXPECT_THROW((void)cumulate(astype(a, Dtype::c64), 1, Reduction::sum, Dtype::f64), ArgumentError);
  }
}

RANK_TEST(Scans, OfAnyPartsOfALine) {
  for (const std::int64_t length : {0, 1, 2, 9, 1000}) {
    const Array a = full(context, {length}, Slab(0), std::uint8_t{3});
    const Array narrow = cumulate(a, 0, Reduction::sum), wide = cumsum(a);
    EXPECT_EQ(narrow.dtype(), Dtype::u8);
    EXPECT_EQ(wide.dtype(), Dtype::u64);
    for_each_local<double>(
        clone(astype(wide, Dtype::f64), {.space = MemorySpace::host}),
        [](const Index& i, double sum) { EXPECT_EQ(sum, static_cast<double>(3 * (i[0] + 1))); });
    for_each_local<double>(
        clone(astype(narrow, Dtype::f64), {.space = MemorySpace::host}),
        [](const Index& i, double sum) { EXPECT_EQ(sum, static_cast<double>(3 * (i[0] + 1) % 256)); });
  }
}

RANK_TEST(Scans, Errors) {
  const Array a = zeros(context, {3, 2}, Slab(0));
  EXPECT_THROW((void)cumsum(a, 2), ArgumentError);
  EXPECT_THROW((void)cumsum(a, -1), ArgumentError);
  EXPECT_THROW((void)cumsum(Array()), ArgumentError);
  EXPECT_THROW((void)cumulate(a, 0, Reduction::max), ArgumentError);
  EXPECT_THROW((void)cumulate(astype(a, Dtype::f16), 0, Reduction::sum), ArgumentError);
  EXPECT_THROW((void)cumulate(astype(a, Dtype::boolean), 0, Reduction::sum), ArgumentError);
  if (context.size() == 1) return;
  EXPECT_THROW((void)cumsum(a, context.rank() == 1 ? 1 : 0), DisagreementError);
}

}  // namespace
}  // namespace partita::testing
