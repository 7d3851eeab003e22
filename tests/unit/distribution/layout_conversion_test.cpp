#include "support/models/layout_model.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using model::Draw;

/// Whether the model puts every element on the same ranks in the same state; the order of contributions is
/// not part of that.
bool same_by_brute_force(const Layout& a, const Layout& b) {
  bool same = true;
  model::for_each_index(a.shape(), [&](const Index& index) {
    const auto one = model::owners(a.distribution(), a.shape(), a.ranks(), index);
    const auto two = model::owners(b.distribution(), b.shape(), b.ranks(), index);
    same = same && std::set(one.begin(), one.end()) == std::set(two.begin(), two.end());
  });
  return same;
}

TEST(LayoutConversion, EquivalenceAgreesWithBruteForce) {
  Draw draw(21);
  int equal = 0;
  for (int round = 0; round < 6000; ++round) {
    const Shape shape = round % 2 == 0 ? Shape{draw(0, 5)} : Shape{draw(1, 4), draw(1, 4)};
    const int ranks = draw.small(1, 4);
    const auto one = static_cast<DistributionKind>(round % 6);
    const auto two = static_cast<DistributionKind>(round / 6 % 6);
    const Layout a(model::random_distribution(draw, shape, ranks, one), shape, ranks);
    const Layout b(model::random_distribution(draw, shape, ranks, two), shape, ranks);
    if (volume(shape) == 0 && a.partial() != b.partial()) continue;  // a matter of taste
    const bool expected = same_by_brute_force(a, b);
    ASSERT_EQ(a.equivalent(b), expected) << a.to_string() << " and " << b.to_string();
    ASSERT_EQ(b.equivalent(a), expected);
    equal += expected ? 1 : 0;
  }
  EXPECT_GT(equal, 300);
  EXPECT_LT(equal, 5000);
  EXPECT_FALSE(Layout(Slab(0), {4}, 2).equivalent(Layout(Slab(0), {4}, 3)));
  EXPECT_FALSE(Layout(Slab(0), {4}, 2).equivalent(Layout(Slab(0), {5}, 2)));
}

TEST(LayoutConversion, ConvertsWhereverAnotherKindDescribesTheSame) {
  Draw draw(22);
  std::array<int, 6> converted{};
  for (int round = 0; round < 3000; ++round) {
    const Shape shape = round % 2 == 0 ? Shape{draw(1, 9)} : Shape{draw(1, 6), draw(1, 6)};
    const int ranks = draw.small(1, 6);
    const auto from = static_cast<DistributionKind>(round % 6);
    const auto to = static_cast<DistributionKind>(round / 6 % 6);
    const Layout layout(model::random_distribution(draw, shape, ranks, from), shape, ranks);
    try {
      const Layout written = layout.as(to);
      ASSERT_EQ(written.distribution().kind(), to);
      ASSERT_TRUE(same_by_brute_force(layout, written))
          << layout.to_string() << " as " << written.to_string();
      ++converted[static_cast<std::size_t>(to)];
    } catch (const ArgumentError& error) {
      ASSERT_TRUE(contains(error.what(), "cannot be written as")) << error.what();
      // No layout of that kind drawn at random may describe it either.
      for (int i = 0; i < 40; ++i) {
        const Layout other(model::random_distribution(draw, shape, ranks, to), shape, ranks);
        ASSERT_FALSE(same_by_brute_force(layout, other))
            << error.what() << "\nbut it is " << other.to_string();
      }
    }
  }
  for (const int count : converted) EXPECT_GT(count, 100);
}

std::string as(const char* text, const Shape& shape, int ranks, DistributionKind kind) {
  return Layout(Distribution::parse(text), shape, ranks).as(kind).distribution().to_string();
}

TEST(LayoutConversion, KeepsTheGridOfTheSource) {
  using enum DistributionKind;
  EXPECT_EQ(as("slab:0", {8, 3}, 4, block_non_cyclic), "block-noncyclic:4x1:2x3");
  EXPECT_EQ(as("slab:0", {8, 3}, 4, block_cyclic), "block-cyclic:4x1:2x3");
  EXPECT_EQ(as("slab:1", {8, 2}, 4, block_cyclic), "block-cyclic:1x4:8x1");
  EXPECT_EQ(as("slab:0", {4, 3}, 2, box), "box:0,0-2,3;2,0-4,3");
  EXPECT_EQ(as("slab:0", {5, 3}, 2, partitioned), "mesh:x=2:x,-");
  EXPECT_EQ(as("slab:0", {5, 3}, 4, partitioned), "mesh:x=4:x,-;uneven=balanced");
  EXPECT_EQ(as("mesh:x=2,y=2:y,x", {4, 6}, 4, block_cyclic), "block-cyclic:2x2:2x3:column");
  EXPECT_EQ(as("block-cyclic:2x2:2x3:column", {4, 6}, 4, partitioned), "mesh:y=2,x=2:x,y");
  EXPECT_EQ(as("block-cyclic:2x2:2x3:ranks=1,2,3,0", {4, 6}, 4, box), "box:2,3-4,6;0,0-2,3;0,3-2,6;2,0-4,3");
  EXPECT_EQ(as("box:2,3-4,6;0,0-2,3;0,3-2,6;2,0-4,3", {4, 6}, 4, block_cyclic),
            "block-cyclic:2x2:2x3:ranks=1,2,3,0");
  EXPECT_EQ(as("replicated", {4, 6}, 4, partitioned), "mesh:x=4:-,-");
  EXPECT_EQ(as("mesh:x=4:-,-", {4, 6}, 4, replicated), "replicated");
  EXPECT_EQ(as("block-noncyclic:4", {5}, 4, box), "box:0-2;2-4;4-5;0-0");
}

void expect_reason(const char* text, DistributionKind kind, const std::string& reason) {
  EXPECT_ERROR(ArgumentError, as(text, {5, 7}, 4, kind), reason);
}

TEST(LayoutConversion, SaysWhyItCannot) {
  using enum DistributionKind;
  expect_reason("block-cyclic:2x2:1x7", box, "rank 0 owns [0,1)+2*3 x [0,7), which is not one box");
  expect_reason("slab:0", block_cyclic,
                "rank 1 owns [2,3) x [0,7), where block-cyclic:4x1:2x7 gives it [2,4)");
  expect_reason("slab:0", replicated, "where replicated gives it [0,5) x [0,7)");
  expect_reason("replicated", box, "overlap");
  expect_reason("replicated", slab, "rank 0 owns");
  expect_reason("mesh:x=2:-,-;partial=sum:x", replicated, "contributions");
  expect_reason("block-cyclic:2x2:1x7", partitioned, "rank 0 owns");
}

}  // namespace
}  // namespace partita
