#include <gtest/gtest.h>

#include <array>
#include <partita/error.hpp>
#include <partita/mesh.hpp>

namespace partita {
namespace {

TEST(Mesh, NumbersItsRanksLastAxisFastest) {
  const Mesh mesh({{"x", 2}, {"y", 3}, {"z", 5}});
  EXPECT_EQ(mesh.size(), 30);
  int rank = 0;
  for (int x = 0; x < 2; ++x) {
    for (int y = 0; y < 3; ++y) {
      for (int z = 0; z < 5; ++z, ++rank) {
        const std::array<int, 3> coordinates{x, y, z};
        EXPECT_EQ(mesh.rank_at(coordinates), rank);
        for (int axis = 0; axis < 3; ++axis)
          EXPECT_EQ(mesh.coordinate(rank, axis), coordinates[static_cast<std::size_t>(axis)]);
      }
    }
  }
  EXPECT_EQ(mesh.axis("y"), 1);
  EXPECT_EQ(Mesh().size(), 1);
}

TEST(Mesh, RefusesWhatIsNoMesh) {
  EXPECT_THROW(Mesh({{"x", 2}, {"x", 3}}), ArgumentError);
  EXPECT_THROW(Mesh({{"x", 0}}), ArgumentError);
  EXPECT_THROW(Mesh({{"", 2}}), ArgumentError);
  EXPECT_THROW(Mesh({{"2x", 2}}), ArgumentError);
  EXPECT_THROW(Mesh({{"x-y", 2}}), ArgumentError);
  EXPECT_THROW(Mesh({{"x", 65536}, {"y", 65536}}), ArgumentError);
  const Mesh mesh({{"x", 2}, {"y_1", 3}});
  EXPECT_THROW((void)mesh.coordinate(6, 0), ArgumentError);
  EXPECT_THROW((void)mesh.coordinate(0, 2), ArgumentError);
  EXPECT_THROW((void)mesh.rank_at(std::array<int, 2>{0, 3}), ArgumentError);
  EXPECT_THROW((void)mesh.rank_at(std::array<int, 1>{0}), ArgumentError);
  try {
    (void)mesh.axis("z");
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("x, y_1"), std::string::npos) << error.what();
  }
}

TEST(PartitionSpec, TheReductionCountsOnlyWithPartialAxes) {
  PartitionSpec a{{{"x"}, {}}, {}, Reduction::sum, Uneven::ceil};
  PartitionSpec b = a;
  b.partial_reduction = Reduction::max;
  EXPECT_EQ(a, b);
  a.partial_axes = b.partial_axes = {"y"};
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace partita
