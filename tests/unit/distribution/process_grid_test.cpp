#include "support/test.hpp"

namespace partita {
namespace {

void expect_inverse(const ProcessGrid& grid) {
  int found = 0;
  for (int rank = 0; rank < grid.rank_bound(); ++rank) {
    const auto coordinates = grid.coordinates(rank);
    if (!coordinates) continue;
    EXPECT_EQ(grid.rank_at(*coordinates), rank) << grid.to_string();
    ++found;
  }
  EXPECT_EQ(found, grid.size());
  EXPECT_FALSE(grid.coordinates(-1));
  EXPECT_FALSE(grid.coordinates(grid.rank_bound()));
}

TEST(ProcessGrid, NumbersItsRanks) {
  EXPECT_EQ(ProcessGrid({2, 3}).rank_at({1, 0}), 3);
  EXPECT_EQ(ProcessGrid({2, 3}, Order::column_major).rank_at({1, 0}), 1);
  EXPECT_EQ(ProcessGrid({2, 3, 5}).rank_at({1, 2, 3}), 28);
  EXPECT_EQ(ProcessGrid({2, 3, 5}, Order::column_major).rank_at({1, 2, 3}), 23);
  EXPECT_EQ(ProcessGrid::of_ranks({2, 2}, {7, 1, 4, 2}).rank_at({1, 0}), 4);
  for (const Order order : {Order::row_major, Order::column_major}) {
    expect_inverse(ProcessGrid({1}, order));
    expect_inverse(ProcessGrid({3, 1, 2}, order));
    expect_inverse(ProcessGrid({5, 7}, order, {4, 6}));
  }
  expect_inverse(ProcessGrid::of_ranks({2, 3}, {9, 2, 5, 0, 7, 3}));
  expect_inverse(ProcessGrid());
}

TEST(ProcessGrid, IsEqualHoweverItIsGiven) {
  EXPECT_EQ(ProcessGrid({4}), ProcessGrid({4}, Order::column_major));
  EXPECT_EQ(ProcessGrid({1, 4, 1}), ProcessGrid({1, 4, 1}, Order::column_major));
  EXPECT_NE(ProcessGrid({2, 2}), ProcessGrid({2, 2}, Order::column_major));
  EXPECT_EQ(ProcessGrid({2, 3}), ProcessGrid::of_ranks({2, 3}, {0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ProcessGrid({2, 3}, Order::column_major), ProcessGrid::of_ranks({2, 3}, {0, 2, 4, 1, 3, 5}));
  EXPECT_NE(ProcessGrid({2, 3}), ProcessGrid::of_ranks({2, 3}, {0, 1, 2, 3, 5, 4}));
  EXPECT_NE(ProcessGrid({2, 3}), ProcessGrid({2, 3}, Order::row_major, {0, 1}));
  EXPECT_EQ(ProcessGrid({2, 3}), ProcessGrid({2, 3}, Order::row_major, {0, 0}));
}

TEST(ProcessGrid, PrintsItself) {
  EXPECT_EQ(ProcessGrid({2, 3}).to_string(), "2x3");
  EXPECT_EQ(ProcessGrid({2, 3}, Order::column_major).to_string(), "2x3:column");
  EXPECT_EQ(ProcessGrid::of_ranks({2, 2}, {3, 2, 1, 0}).to_string(), "2x2:ranks=3,2,1,0");
  EXPECT_EQ(ProcessGrid({2, 2}, Order::row_major, {0, 1}).to_string(), "2x2:first=0,1");
}

TEST(ProcessGrid, PermutesItsDimensions) {
  const ProcessGrid grid({2, 3, 4}, Order::column_major, {1, 2, 3});
  const std::array<int, 3> axes{2, 0, 1};
  const ProcessGrid moved = grid.permuted(axes);
  EXPECT_EQ(moved.extents(), (Extents{4, 2, 3}));
  EXPECT_EQ(moved.first(), (Extents{3, 1, 2}));
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      for (std::int64_t k = 0; k < 4; ++k) EXPECT_EQ(moved.rank_at({k, i, j}), grid.rank_at({i, j, k}));
    }
  }
  const std::array<int, 3> wrong{0, 0, 1};
  EXPECT_THROW((void)grid.permuted(wrong), ArgumentError);
}

TEST(ProcessGrid, RefusesWhatIsNoGrid) {
  EXPECT_THROW(ProcessGrid({2, 0}), ArgumentError);
  EXPECT_THROW(ProcessGrid({2, -1}), ArgumentError);
  EXPECT_THROW(ProcessGrid({65536, 65536}), ArgumentError);
  EXPECT_THROW(ProcessGrid({2, 2}, Order::row_major, {0}), ArgumentError);
  EXPECT_THROW(ProcessGrid({2, 2}, Order::row_major, {0, 2}), ArgumentError);
  EXPECT_THROW(ProcessGrid({2, 2}, Order::row_major, {-1, 0}), ArgumentError);
  EXPECT_THROW((void)ProcessGrid::of_ranks({2, 2}, {0, 1, 2}), ArgumentError);
  EXPECT_THROW((void)ProcessGrid::of_ranks({2, 2}, {0, 1, 2, 2}), ArgumentError);
  EXPECT_THROW((void)ProcessGrid::of_ranks({2, 2}, {0, 1, 2, -3}), ArgumentError);
  EXPECT_THROW((void)ProcessGrid({2, 2}).rank_at({0, 2}), ArgumentError);
  EXPECT_THROW((void)ProcessGrid({2, 2}).rank_at({0}), ArgumentError);
}

}  // namespace
}  // namespace partita
