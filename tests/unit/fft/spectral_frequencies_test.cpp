#include "support/test.hpp"

namespace partita {
namespace {

TEST(Frequencies, AreNumPys) {
  EXPECT_EQ(fftfreq(5), (std::vector<double>{0, 0.2, 0.4, -0.4, -0.2}));
  EXPECT_EQ(fftfreq(6, 0.5), (std::vector<double>{0, 1 / 3.0, 2 / 3.0, -1, -2 / 3.0, -1 / 3.0}));
  EXPECT_EQ(rfftfreq(5), (std::vector<double>{0, 0.2, 0.4}));
  EXPECT_EQ(rfftfreq(6, 0.5), (std::vector<double>{0, 1 / 3.0, 2 / 3.0, 1}));
  EXPECT_EQ(fftfreq(1), std::vector<double>{0});
  EXPECT_THROW(fftfreq(0), ArgumentError);
  EXPECT_THROW(rfftfreq(4, 0), ArgumentError);
}

TEST(Frequencies, OfALocalPartFollowItsIndices) {
  const Layout layout(BlockCyclic(ProcessGrid({2, 3}), {2, 3}), {11, 13}, 6);
  for (int rank = 0; rank < 6; ++rank) {
    const std::vector<double> along = fftfreq(layout, 1, rank, 0.1);
    const std::vector<double> half = rfftfreq(layout, 0, rank, 20);
    ASSERT_EQ(static_cast<std::int64_t>(along.size()), layout.local_shape(rank)[1]);
    ASSERT_EQ(static_cast<std::int64_t>(half.size()), layout.local_shape(rank)[0]);
    for (std::size_t i = 0; i < along.size(); ++i) {
      const Index global = layout.to_global(rank, {0, static_cast<std::int64_t>(i)});
      EXPECT_DOUBLE_EQ(along[i], static_cast<double>(signed_frequency(global[1], 13)) / 1.3);
    }
    for (std::size_t i = 0; i < half.size(); ++i) {
      const Index global = layout.to_global(rank, {static_cast<std::int64_t>(i), 0});
      EXPECT_DOUBLE_EQ(half[i], static_cast<double>(global[0]) / 20);
    }
  }
  EXPECT_THROW(fftfreq(layout, 2, 0), ArgumentError);
  EXPECT_THROW(rfftfreq(layout, 0, 0, 19), ArgumentError);  // has 10 modes, not 11
}

TEST(Frequencies, ThreeHalvesRoundUp) {
  EXPECT_EQ(three_halves({4, 5, 6}), (Shape{6, 8, 9}));
  EXPECT_EQ(three_halves({4, 5, 6}, {1}), (Shape{4, 8, 6}));
  EXPECT_THROW(three_halves({4}, {1}), ArgumentError);
}

}  // namespace
}  // namespace partita
