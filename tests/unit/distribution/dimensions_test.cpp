// Layouts with a dimension more or some less, against what each rank has of either.
#include "distribution/dimensions.hpp"

#include "support/models/layout_model.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using distribution::with_dimension;
using distribution::without_dimensions;

/// The rank's part without the sets of `axes`, or with one index there.
Region less(const Region& part, const std::vector<int>& axes, bool kept) {
  Region result;
  for (std::size_t d = 0; d < part.sets.size(); ++d) {
    if (std::ranges::find(axes, static_cast<int>(d)) == axes.end()) {
      result.sets.push_back(part.sets[d]);
    } else if (kept) {
      result.sets.push_back(IndexSet::range(0, 1));
    }
  }
  return result;
}

/// Each rank that has anything has all along the axes, and the same as before along the others, in the same
/// state.
void expect_left(const Layout& left, const Layout& layout, const std::vector<int>& axes, bool kept) {
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region part = layout.region(rank);
    if (part.empty()) {
      EXPECT_EQ(left.local_size(rank), 0);
      continue;
    }
    for (const int axis : axes)
      EXPECT_EQ(part.sets[static_cast<std::size_t>(axis)].size(), layout.shape()[axis]);
    EXPECT_EQ(left.region(rank), less(part, axes, kept));
    EXPECT_EQ(left.cells(left.region(rank)).front().contributions, layout.cells(part).front().contributions);
  }
  EXPECT_EQ(left.partial(), layout.partial());
}

TEST(Dimensions, WithoutSomeOfRandomLayouts) {
  model::Draw draw(17);
  int found = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    Shape shape = model::random_shape(draw);
    const int ranks = draw.small(1, 9);
    Layout layout(model::random_distribution(draw, shape, ranks), shape, ranks);
    if (draw(0, 3) == 0) {
      Index lower = shape;
      for (int d = 0; d < shape.size(); ++d) {
        lower[d] = draw(0, shape[d]);
        shape[d] = draw(0, shape[d] - lower[d]);
      }
      layout = layout.window(lower, shape);
    }
    if (draw(0, 3) == 0) layout = layout.embedded(model::random_ranks(draw, ranks, ranks + 2), ranks + 2);
    if (volume(shape) == 0) continue;  // each rank has nothing, and may have the sum of nothing afterwards
    std::vector<int> axes;
    for (int d = 0; d < shape.size(); ++d) {
      if (draw(0, 2) == 0) axes.push_back(d);
    }
    draw.shuffle(axes);
    const bool kept = draw(0, 1) == 0;
    SCOPED_TRACE(layout.to_string());
    if (const auto left = without_dimensions(layout, axes, kept)) {
      expect_left(*left, layout, axes, kept);
      ++found;
    }
  }
  EXPECT_GT(found, 1000);
}

TEST(Dimensions, WithAndWithoutOneIsTheSame) {
  model::Draw draw(3);
  for (int turn = 0; turn < 500; ++turn) {
    const Shape shape = model::random_shape(draw);
    const int ranks = draw.small(1, 9);
    if (shape.size() == max_dimensions) continue;
    const Layout layout(model::random_distribution(draw, shape, ranks), shape, ranks);
    const std::array<int, 1> axes{draw.small(0, shape.size())};
    SCOPED_TRACE(layout.to_string());
    const Layout more = with_dimension(layout, axes.front());
    EXPECT_EQ(more.shape(), distribution::with_dimension(shape, axes.front(), 1));
    const auto left = without_dimensions(more, axes);
    if (volume(shape) == 0 && layout.distribution().kind() == DistributionKind::box) {
      EXPECT_FALSE(left);
      continue;
    }
    ASSERT_TRUE(left);
    EXPECT_TRUE(left->equivalent(layout)) << left->to_string();
  }
}

std::optional<Layout> without(const char* rule, const Shape& shape, int ranks, std::vector<int> axes,
                              bool kept = false) {
  return without_dimensions(Layout(Distribution::parse(rule), shape, ranks), axes, kept);
}

void expect_rule(const std::optional<Layout>& left, const char* rule) {
  ASSERT_TRUE(left);
  EXPECT_EQ(left->distribution(), Distribution::parse(rule)) << left->to_string();
}

TEST(Dimensions, GridsThatAreCutThere) {
  expect_rule(without("block-cyclic:1x2:4x4:ranks=2,1:first=0,1", {8, 8}, 3, {0}),
              "block-cyclic:2:4:ranks=2,1:first=1");
  expect_rule(without("block-noncyclic:2x1x2:column", {8, 8, 8}, 4, {1}, true),
              "block-noncyclic:2x1x2:column");
  // Also where one row of processes has all: with other extents it has not.
  EXPECT_FALSE(without("block-cyclic:2x2:8x4:ranks=3,2,1,0", {8, 8}, 4, {0}));
  EXPECT_FALSE(without("block-noncyclic:2x1:ranks=1,0", {1, 8}, 2, {0}));
  EXPECT_FALSE(without("slab:0", {1, 8}, 2, {0}));
  EXPECT_FALSE(without("mesh:x=2:x,-", {1, 8}, 2, {0, 1}));
}

TEST(Dimensions, BoxesThatAreEmptyOrCutThere) {
  expect_rule(without("box:0,0-4,3;0,0-0,0;0,3-4,8", {4, 8}, 4, {0}), "box:0-3;0-0;3-8");
  expect_rule(without("box:0,0-4,3;0,2-0,3;0,3-4,8", {4, 8}, 4, {0}, true), "box:0,0-1,3;0,0-0,0;0,3-1,8");
  EXPECT_FALSE(without("box:0,0-4,3;0,3-4,8", {4, 8}, 2, {1}));
  EXPECT_FALSE(without("box:0,0-0,3;0,3-0,8", {0, 8}, 2, {0}));  // of nothing
  EXPECT_FALSE(without("box:0-0;0-8", {8}, 2, {0}));             // a scalar on rank 1 alone
}

TEST(Dimensions, ScalarsReplicasAndContributions) {
  expect_rule(without("replicated", {4, 8}, 3, {1, 0}), "replicated");
  expect_rule(without("block-cyclic:1x1:2x2", {4, 8}, 3, {0, 1}), "block-cyclic:scalar:scalar");
  const auto left = without("mesh:x=2,y=2:x,-;partial=max:y", {4, 8}, 4, {1});
  expect_rule(left, "mesh:x=2,y=2:x;partial=max:y");
  EXPECT_EQ(left->partial()->reduction, Reduction::max);
  expect_rule(without("mesh:x=2,y=2:x,-;partial=max:y", {4, 8}, 4, {1}, true),
              "mesh:x=2,y=2:x,-;partial=max:y");
  expect_rule(without("slab:2", {4, 8, 5}, 3, {1, 0}), "slab:0");
  expect_rule(without("slab:2", {4, 8, 5}, 3, {1, 0}, true), "slab:2");
  expect_rule(without("slab:1", {0, 8}, 3, {0}), "slab:0");  // sums of nothing
}

}  // namespace
}  // namespace partita
