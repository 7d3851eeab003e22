// Sorted runs, merged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <partita/error.hpp>
#include <partita/merge.hpp>
#include <random>
#include <vector>

namespace partita {
namespace {

template <class T>
class MergeRuns : public ::testing::Test {};
using MergedTypes = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                     std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(MergeRuns, MergedTypes);

/// Random sizes of runs, some of them empty, some of less than a vector.
std::vector<std::int64_t> sizes(std::mt19937_64& random) {
  std::vector<std::int64_t> found(1 + random() % 9);
  for (std::int64_t& one : found) {
    const std::uint64_t most = random() % 3 == 0 ? 5u : 700u;
    one = static_cast<std::int64_t>(random() % most);
  }
  return found;
}

TYPED_TEST(MergeRuns, OfAnySizes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::vector<std::int64_t> counts = sizes(random);
    std::vector<TypeParam> values;
    const std::uint64_t distinct = round % 2 == 0 ? 7u : 100'000u;
    for (const std::int64_t count : counts) {
      for (std::int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<TypeParam>(static_cast<TypeParam>(random() % distinct) - TypeParam{3}));
      std::sort(values.end() - count, values.end());
    }
    std::vector<TypeParam> wanted = values;
    std::sort(wanted.begin(), wanted.end());
    std::vector<TypeParam> merged(values.size());
    merge_runs(view(values), counts, view(merged));
    ASSERT_EQ(merged, wanted) << "round " << round;
    merge_runs(view(values), counts);
    ASSERT_EQ(values, wanted) << "round " << round;
  }
}

/// Runs that are merged in several pieces: of very different sizes, in turn, equal, and one after the other.
TYPED_TEST(MergeRuns, LargerThanTheCache) {
  std::mt19937_64 random(2);
  for (const std::uint64_t distinct : {1u, 3u, 100u, 2'000'000'000u}) {
    const std::vector<std::int64_t> counts{70'000, 3, 30'011, 0, 90'000};
    std::vector<TypeParam> values;
    for (const std::int64_t count : counts) {
      for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<TypeParam>(random() % distinct));
      std::sort(values.end() - count, values.end());
    }
    std::vector<TypeParam> wanted = values, merged(values.size());
    std::sort(wanted.begin(), wanted.end());
    merge_runs(view(values), counts, view(merged));
    ASSERT_EQ(merged, wanted) << distinct;
    merge_runs(view(wanted), counts, view(merged));
    ASSERT_EQ(merged, wanted) << distinct;
  }
}

TEST(MergeRunsOfFloats, NansAndInfinities) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values;
  for (int run = 0; run < 4; ++run) {
    values.insert(values.end(), {-infinity, -2.5F, -0.0F, 0.0F, 1.0F});
    values.insert(values.end(), 40, static_cast<float>(run + 2));
    values.insert(values.end(), {infinity, nan, -nan});
  }
  const std::vector<std::int64_t> counts(4, 48);
  merge_runs(view(values), counts);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end() - 8));
  EXPECT_EQ(values[184 - 1], infinity);
  EXPECT_TRUE(std::all_of(values.end() - 8, values.end(), [](float one) { return std::isnan(one); }));
}

TEST(MergeRunsErrors, OfWrongArguments) {
  std::vector<double> values{1, 2, 3, 4};
  EXPECT_THROW(merge_runs(view(values), std::vector<std::int64_t>{2, 1}), ArgumentError);
  EXPECT_THROW(merge_runs(view(values), std::vector<std::int64_t>{5, -1}), ArgumentError);
  EXPECT_THROW(merge_runs(View::dense(values.data(), Dtype::c128, {2}), std::vector<std::int64_t>{1, 1}),
               ArgumentError);
  EXPECT_THROW(merge_runs(View::dense(values.data(), Dtype::f64, {2, 2}), std::vector<std::int64_t>{2, 2}),
               ArgumentError);
  std::vector<double> three(3);
  std::vector<float> floats(4);
  EXPECT_THROW(merge_runs(view(values), std::vector<std::int64_t>{2, 2}, view(three)), ArgumentError);
  EXPECT_THROW(merge_runs(view(values), std::vector<std::int64_t>{2, 2}, view(floats)), ArgumentError);
  EXPECT_THROW(merge_runs(view(values), std::vector<std::int64_t>{2, 2}, view(values)), ArgumentError);
  View strided = View::dense(values.data(), Dtype::f64, {2});
  strided.strides[0] = 2;
  EXPECT_THROW(merge_runs(strided, std::vector<std::int64_t>{1, 1}), ArgumentError);
}

}  // namespace
}  // namespace partita
