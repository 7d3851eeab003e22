#include "support/test.hpp"

namespace partita {
namespace {

TEST(Extents, AreMadeOfIntegersOfAnyType) {
  const std::size_t n = 7;
  const unsigned short m = 3;
  const long long k = -2;
  EXPECT_EQ((Extents{n, m, k, 5}), (Extents{7, 3, -2, 5}));
  const std::vector<std::size_t> sizes{4, 5};
  EXPECT_EQ(Extents(sizes), (Extents{4, 5}));
  const std::vector<std::int64_t> wide{4, 5};
  EXPECT_EQ(Extents(wide), (Extents{4, 5}));
  EXPECT_EQ(Extents(std::vector<unsigned char>{}), Extents());
}

TEST(Extents, RefuseWhatIsBeyondTheirRange) {
  const auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Extents{largest}[0], std::numeric_limits<std::int64_t>::max());
  EXPECT_THROW(Extents{largest + 1}, ArgumentError);
  EXPECT_THROW(Extents(std::vector<std::uint64_t>{1, ~std::uint64_t{0}}), ArgumentError);
  EXPECT_THROW((Extents{1, 2, 3, 4, 5, 6, 7, 8, 9}), ArgumentError);
  EXPECT_THROW(Extents(std::vector<int>(9)), ArgumentError);
}

TEST(Extents, AtIsChecked) {
  Extents extents{4, 5};
  extents.at(1) = 6;
  EXPECT_EQ(extents.at(1), 6);
  EXPECT_THROW((void)extents.at(2), ArgumentError);
  EXPECT_THROW((void)extents.at(-1), ArgumentError);
  EXPECT_THROW((void)Extents().at(0), ArgumentError);
  EXPECT_THROW((void)extents[2], ArgumentError);  // in every build
  EXPECT_THROW(extents[-1] = 3, ArgumentError);
}

}  // namespace
}  // namespace partita
