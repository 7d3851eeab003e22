#include "array/overlap.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace partita {
namespace {

std::set<const double*> elements(const View& view) {
  std::set<const double*> all;
  for (std::int64_t i = 0; i < view.extents[0]; ++i) {
    for (std::int64_t j = 0; j < view.extents[1]; ++j)
      all.insert(static_cast<const double*>(view.data) + i * view.strides[0] + j * view.strides[1]);
  }
  return all;
}

TEST(Overlap, OfPartsOfOneMatrixIsExact) {
  std::mt19937 random(1);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::vector<double> memory(400);
  int apart_but_interleaved = 0;
  for (int round = 0; round < 5000; ++round) {
    const int leading = draw(2, 9);
    const auto part = [&] {
      const int row = draw(0, leading - 1);
      const View view{memory.data() + row + leading * draw(0, 12),
                      Dtype::f64,
                      {draw(0, leading - row), draw(0, 8)},
                      {1, leading}};
      return view;
    };
    View a = part();
    View b = part();
    if (draw(0, 1) == 0) {  // row-major: the same with the dimensions turned
      std::swap(a.extents[0], a.extents[1]);
      std::swap(a.strides[0], a.strides[1]);
    }
    const std::set<const double*> in_a = elements(a);
    bool shared = false;
    for (const double* element : elements(b)) shared = shared || in_a.contains(element);
    ASSERT_EQ(arrays::overlap(a, b), shared) << to_string(a.extents) << " and " << to_string(b.extents);
    ASSERT_EQ(arrays::overlap(b, a), shared);
    apart_but_interleaved += !shared && !in_a.empty() ? 1 : 0;
  }
  EXPECT_GT(apart_but_interleaved, 100);
}

TEST(Overlap, WhatIsNotOneMatrixIsJudgedBySpans) {
  std::vector<double> memory(100);
  const View a{memory.data(), Dtype::f64, {4, 4}, {1, 6}};
  const View b{memory.data() + 4, Dtype::f64, {2, 3}, {1, 7}};
  EXPECT_TRUE(arrays::overlap(a, b));
  const View beyond{memory.data() + 50, Dtype::f64, {2, 3}, {1, 7}};
  EXPECT_FALSE(arrays::overlap(a, beyond));
  const View other_dtype{memory.data() + 4, Dtype::f32, {2, 3}, {1, 12}};
  EXPECT_TRUE(arrays::overlap(a, other_dtype));
}

}  // namespace
}  // namespace partita
