#include "support/test.hpp"

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

TEST(Mesh, OfListedRanks) {
  const Mesh mesh({{"x", 2}, {"y", 3}}, {7, 1, 4, 0, 2, 3});
  EXPECT_EQ(mesh.size(), 6);
  EXPECT_EQ(mesh.rank_bound(), 8);
  EXPECT_EQ(mesh.rank_at(std::array<int, 2>{0, 2}), 4);
  EXPECT_EQ(mesh.rank_at(std::array<int, 2>{1, 0}), 0);
  EXPECT_EQ(mesh.coordinate(7, 0), 0);
  EXPECT_EQ(mesh.coordinate(3, 1), 2);
  EXPECT_THROW((void)mesh.coordinate(5, 0), ArgumentError);
  EXPECT_THROW(Mesh({{"x", 2}}, {0, std::numeric_limits<int>::max()}), ArgumentError);  // no bound
  EXPECT_EQ(mesh, Mesh(mesh.axes(), mesh.ranks()));
  EXPECT_NE(mesh, Mesh(mesh.axes()));
  // Ranks that count up are the mesh without a list.
  EXPECT_EQ(Mesh({{"x", 2}, {"y", 2}}, {0, 1, 2, 3}), Mesh({{"x", 2}, {"y", 2}}));
  EXPECT_EQ(mesh.renumbered([](int rank) { return 7 - rank; }),
            Mesh(mesh.axes(), std::vector<int>{0, 6, 3, 7, 5, 4}));
  EXPECT_THROW(Mesh({{"x", 2}}, {0}), ArgumentError);
  EXPECT_THROW(Mesh({{"x", 2}}, {1, 1}), ArgumentError);
  EXPECT_THROW(Mesh({{"x", 2}}, {1, -1}), ArgumentError);
}

TEST(Mesh, LinesAndPlanesOfRanks) {
  using Names = std::vector<std::string>;
  const Mesh mesh({{"x", 2}, {"y", 3}, {"z", 2}});
  EXPECT_EQ(mesh.ranks_along(7, Names{"x"}), (std::vector<int>{1, 7}));
  EXPECT_EQ(mesh.ranks_along(7, Names{"y"}), (std::vector<int>{7, 9, 11}));
  EXPECT_EQ(mesh.ranks_along(7, Names{"x", "y"}), (std::vector<int>{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(mesh.ranks_along(7, Names{"y", "x"}), (std::vector<int>{1, 7, 3, 9, 5, 11}));
  EXPECT_EQ(mesh.ranks_along(7, Names{}), (std::vector<int>{7}));
  EXPECT_EQ(mesh.submesh(Names{"z", "x"}), Mesh({{"z", 2}, {"x", 2}}));
  const Mesh listed({{"x", 2}, {"y", 2}}, {3, 1, 0, 2});
  EXPECT_EQ(listed.ranks_along(2, Names{"y"}), (std::vector<int>{0, 2}));
  EXPECT_EQ(listed.ranks_along(2, Names{"x"}), (std::vector<int>{1, 2}));
  EXPECT_THROW((void)mesh.ranks_along(12, Names{"x"}), ArgumentError);
  EXPECT_THROW((void)mesh.ranks_along(0, Names{"w"}), ArgumentError);
  EXPECT_THROW((void)mesh.submesh(Names{"x", "x"}), ArgumentError);
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
  EXPECT_ERROR(ArgumentError, mesh.axis("z"), "x, y_1");
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
