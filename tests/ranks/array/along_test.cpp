// Contexts along the axes of a mesh.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// Two axes whose sizes multiply to the number of ranks, or to one less, in a shuffled order.
Mesh shuffled_mesh(int ranks) {
  const int count = ranks > 2 && ranks % 2 == 1 ? ranks - 1 : ranks;
  const int columns = count % 2 == 0 ? 2 : 1;
  std::vector<int> order;
  for (int i = 0; i < count; ++i) order.push_back(count - 1 - i);
  if (count > 2) std::swap(order[0], order[1]);
  return Mesh({{"x", count / columns}, {"y", columns}}, order);
}

bool is_member(const Mesh& mesh, int rank) {
  return mesh.ranks().empty()
             ? rank < mesh.size()
             : std::find(mesh.ranks().begin(), mesh.ranks().end(), rank) != mesh.ranks().end();
}

std::int64_t summed(const Context& line, std::int64_t value) {
  const View view = View::dense(&value, Dtype::i64, {});
  all_reduce(line, view, view);
  return value;
}

RANK_TEST(Along, SumsOverTheRanksOfALine) {
  const Mesh mesh = shuffled_mesh(context.size());
  if (is_member(mesh, context.rank())) {
    for (const std::string axis : {"x", "y"}) {
      const std::vector<int> ranks = mesh.ranks_along(context.rank(), std::span(&axis, 1));
      std::int64_t expected = 0;
      for (const int rank : ranks) expected += 1 << rank;
      const Context line = along(context, mesh, axis);
      EXPECT_EQ(line.size(), static_cast<int>(ranks.size()));
      EXPECT_EQ(ranks[static_cast<std::size_t>(line.rank())], context.rank());
      EXPECT_EQ(summed(line, 1 << context.rank()), expected) << axis;
    }
    const Context plane = along(context, mesh, {"y", "x"});
    EXPECT_EQ(plane.size(), mesh.size());
    std::int64_t expected = 0;
    for (int rank = 0; rank < context.size(); ++rank) expected += is_member(mesh, rank) ? 1 << rank : 0;
    EXPECT_EQ(summed(plane, 1 << context.rank()), expected);
  } else {
    EXPECT_ERROR(ArgumentError, along(context, mesh, "x"), "outside a mesh");
  }
  context.barrier();
}

RANK_TEST(Along, IsMadeOnceAndAgainAfterItsEnd) {
  const Mesh mesh({{"x", 1}, {"y", context.size()}});
  const Context first = along(context, mesh, "y");
  EXPECT_EQ(first.state(), along(context, mesh, "y").state());
  EXPECT_EQ(first.state(), along(context, mesh, {"x", "y"}).state());  // the same ranks in the same order
  Context closing = along(context, mesh, "y");
  EXPECT_EQ(closing.close(), "");
  const Context second = along(context, mesh, "y");
  EXPECT_NE(first.state(), second.state());
  EXPECT_EQ(summed(second, 1), context.size());
}

// An array over the axes of the line, and one over the whole mesh.
RANK_TEST(Along, ArraysOnALine) {
  const Mesh mesh = shuffled_mesh(context.size());
  const std::vector<std::string> axis{"x"};
  if (is_member(mesh, context.rank())) {
    const Context line = along(context, mesh, std::span(axis));
    Array array = empty(line, {7, 3}, Partitioned{mesh.submesh(axis), {{{"x"}, {}}, {}}}, Dtype::f64);
    fill_random(array, 5);
    EXPECT_TRUE(compare(array, redistribute(array, Slab(1))).equal);
  }
  context.barrier();
}

RANK_TEST(Along, OfBadMeshes) {
  const Mesh large({{"x", context.size() + 1}});
  const Mesh mesh({{"x", context.size()}});
  EXPECT_ERROR(ArgumentError, along(context, large, "x"), "the mesh needs");
  EXPECT_ERROR(ArgumentError, along(context, mesh, "y"), "its axes: x");
  EXPECT_ERROR(ArgumentError, along(context, mesh, {"x", "x"}), "twice");
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
