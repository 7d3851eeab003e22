// Arrays as text, on the host or (PARTITA_TEST_DEVICE) on devices.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

RANK_TEST(Print, WholeArraysInBrackets) {
  Array matrix = empty(context, {2, 3}, Slab(1), Dtype::f64);
  fill(matrix, [](const Index& i) { return static_cast<double>(i[0] * 10 - i[1]) / 4; });
  EXPECT_EQ(to_string(matrix),
            "[[ 0.   -0.25 -0.5 ]\n"
            " [ 2.5   2.25  2.  ]]");
  Array cube = empty(context, {2, 2, 2}, BlockCyclic({1, context.size(), 1}, {1, 1, 1}), Dtype::i32);
  fill(cube, [](const Index& i) { return static_cast<std::int32_t>(4 * i[0] + 2 * i[1] + i[2]); });
  EXPECT_EQ(to_string(cube), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  EXPECT_EQ(to_string(full(context, Shape{}, Replicated(), 2.5F)), "2.5");
  EXPECT_EQ(to_string(full(context, {3}, Replicated(), false)), "[False False False]");
  EXPECT_EQ(to_string(full(context, {2}, Slab(0), std::complex<float>(1, -2))), "[1.-2.j 1.-2.j]");
  EXPECT_EQ(to_string(zeros(context, {0, 4}, Slab(0), Dtype::f16)), "[]");
  EXPECT_EQ(to_string(full(context, {1}, Slab(0), 1.0 / 3)), "[0.33333333]");
  EXPECT_EQ(to_string(full(context, {1}, Slab(0), 1.0 / 3), {.precision = 3}), "[0.333]");
  EXPECT_EQ(to_string(full(context, {1}, Slab(0), 2.0 / 3), {.precision = 0}), "[1.]");
}

/// All in one form, which follows from all of them: each of these has its numbers on several ranks.
RANK_TEST(Print, NumbersLookAlikeAsNumPyHasThem) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::pair<std::vector<double>, const char*> known[] = {
      {{1.30400005, 1.74880904}, "[1.30400005 1.74880904]"},
      {{3.3e9, 9.05e-6}, "[3.30e+09 9.05e-06]"},
      {{0.1 + 0.2, 1}, "[0.3 1. ]"},
      {{1e16, 1}, "[1.e+16 1.e+00]"},
      {{1e-300, 1e300, -0.0}, "[ 1.e-300  1.e+300 -0.e+000]"},
      {{nan, 1, -infinity}, "[ nan   1. -inf]"},
      {{nan, infinity}, "[nan inf]"},
      {{0.123456785, 99999999}, "[1.23456785e-01 9.99999990e+07]"}};
  for (const auto& [numbers, text] : known) {
    Array array = empty(context, {static_cast<std::int64_t>(numbers.size())}, Slab(0), Dtype::f64);
    fill(array, [&values = numbers](const Index& i) { return values[static_cast<std::size_t>(i[0])]; });
    EXPECT_EQ(to_string(array), text);
  }
  EXPECT_EQ(to_string(full(context, {2}, Slab(0), 0.1F)), "[0.1 0.1]");
  EXPECT_EQ(to_string(full(context, {2}, Slab(0), BFloat16(0.1F))), "[0.1 0.1]");
  EXPECT_EQ(to_string(full(context, {2}, Slab(0), true)), "[ True  True]");
  EXPECT_EQ(to_string(full(context, Shape{}, Replicated(), true)), "True");
  EXPECT_EQ(to_string(arange(context, 30, Slab(0))),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
            " 24 25 26 27 28 29]");
}

RANK_TEST(Print, OnlyTheEdgesOfLargeOnes) {
  EXPECT_EQ(to_string(arange(context, 1001, Slab(0))), "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(to_string(arange(context, 9, Slab(0)), {.threshold = 5, .edge = 2}), "[0 1 ... 7 8]");
  // Edges that meet, however large.
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(to_string(arange(context, 3, Slab(0)), {.threshold = 0, .edge = most}), "[0 1 2]");
  EXPECT_EQ(to_string(arange(context, 4, Slab(0)), {.threshold = 0, .edge = 2}), "[0 1 2 3]");
  for (const Distribution& rule :
       {Distribution(Slab(0)), Distribution(BlockCyclic({1, context.size()}, {3, 2})),
        Distribution(Replicated())}) {
    Array wide = empty(context, {2, 600}, rule, Dtype::i64);
    fill(wide, [](const Index& i) { return i[0] * 600 + i[1]; });
    EXPECT_EQ(to_string(wide),
              "[[   0    1    2 ...  597  598  599]\n"
              " [ 600  601  602 ... 1197 1198 1199]]");
    Array square = empty(context, {40, 40}, rule, Dtype::i64);
    fill(square, [](const Index& i) { return i[0] * 40 + i[1]; });
    EXPECT_EQ(to_string(square, {.edge = 1}), "[[   0 ...   39]\n ...\n [1560 ... 1599]]");
  }
}

RANK_TEST(Print, WindowsAndTransposedArrays) {
  Array matrix = empty(context, {40, 30}, BlockCyclic({context.size(), 1}, {3, 2}), Dtype::i64);
  fill(matrix, [](const Index& i) { return i[0] * 100 + i[1]; });
  EXPECT_EQ(to_string(matrix.window({7, 4}, {2, 3})), "[[704 705 706]\n [804 805 806]]");
  EXPECT_EQ(to_string(matrix.permuted({1, 0}).window({4, 7}, {3, 2})), "[[704 804]\n [705 805]\n [706 806]]");
  EXPECT_EQ(to_string(matrix.window({5, 5}, {35, 25}).permuted({1, 0}), {.threshold = 0, .edge = 1}),
            "[[ 505 ... 3905]\n ...\n [ 529 ... 3929]]");
}

RANK_TEST(Print, StreamsGetTheSame) {
  const Array array = arange(context, 4, Slab(0));
  std::ostringstream stream;
  stream << array;
  EXPECT_EQ(stream.str(), "[0 1 2 3]");
}

RANK_TEST(Print, RefusesPartialArraysAndBadOptions) {
  const Array array = arange(context, 4, Slab(0));
  EXPECT_ERROR_ON_ALL(ArgumentError, to_string(array, {.edge = 0}), "an edge of 0 (1 or more)");
  EXPECT_ERROR_ON_ALL(ArgumentError, to_string(array, {.precision = -1}));
  const std::string mesh = "mesh:x=" + std::to_string(context.size()) + ":-;partial=sum:x";
  const Array partial = zeros(context, {3}, Distribution::parse(mesh), Dtype::f32);
  if (context.size() > 1) {
    EXPECT_ERROR_ON_ALL(ArgumentError, to_string(partial), "redistribute");
  }
}

}  // namespace
}  // namespace partita::testing
