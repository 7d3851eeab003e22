#include "support/test.hpp"

namespace partita {
namespace {

TEST(LocalIndices, AreThoseOfToGlobal) {
  const std::array<Layout, 7> layouts{
      Layout(Slab(1), {4, 10, 3}, 4),
      Layout(Slab(0), {2, 3}, 5),
      Layout(BlockCyclic({2, 2}, {2, 3}), {13, 17}, 5),
      Layout(BlockCyclic({3}, {1}), {20}, 3).window({4}, {13}),
      Layout(BlockNonCyclic({2, 2}), {7, 1}, 4),
      Layout(Replicated(), {3, 2}, 2),
      Layout(Distribution::parse("mesh:x=2,y=2:(x,y),-;uneven=balanced"), {11, 2}, 4),
  };
  for (const Layout& layout : layouts) {
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      const Shape local = layout.local_shape(rank);
      for (int axis = 0; axis < layout.dimensions(); ++axis) {
        const std::vector<std::int64_t> indices = local_indices(layout, axis, rank);
        ASSERT_EQ(static_cast<std::int64_t>(indices.size()), local[axis]) << layout << rank;
        for (std::int64_t i = 0; volume(local) > 0 && i < local[axis]; ++i) {
          Index at = Extents::filled(layout.dimensions(), 0);
          at[axis] = i;
          EXPECT_EQ(indices[static_cast<std::size_t>(i)], layout.to_global(rank, at)[axis]) << layout << rank;
        }
      }
    }
  }
}

TEST(LocalIndices, RefusesWhatIsNotThere) {
  const Layout layout(Slab(0), {4, 4}, 2);
  EXPECT_THROW((void)local_indices(layout, 2, 0), ArgumentError);
  EXPECT_THROW((void)local_indices(layout, -1, 0), ArgumentError);
  EXPECT_THROW((void)local_indices(layout, 0, 2), ArgumentError);
}

TEST(StreamOutput, IsTheText) {
  const Layout layout(BlockCyclic({2, 2}, {2, 3}), {13, 17}, 4);
  std::ostringstream stream;
  stream << layout << '|' << layout.shape() << '|' << layout.distribution() << '|' << layout.region(1) << '|'
         << layout.region(1).sets[1] << '|' << Shape{};
  EXPECT_EQ(stream.str(), layout.to_string() + "|13x17|block-cyclic:2x2:2x3|" + to_string(layout.region(1)) +
                              "|" + to_string(layout.region(1).sets[1]) + "|scalar");
}

}  // namespace
}  // namespace partita
