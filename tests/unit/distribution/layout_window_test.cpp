#include "support/models/layout_model.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using model::Draw;

struct Window {
  Index lower;
  Shape shape;
};

Window random_window(Draw& draw, const Shape& whole) {
  Window window;
  for (const std::int64_t extent : whole) {
    const std::int64_t lower = draw(0, extent);
    window.lower.push_back(lower);
    window.shape.push_back(draw(0, 9) == 0 ? 0 : draw(0, extent - lower));
  }
  return window;
}

Index moved(const Index& index, const Index& by) {
  Index result = index;
  for (int i = 0; i < index.size(); ++i) result[i] += by[i];
  return result;
}

/// The window against the whole layout, element by element: the same owners, and local positions that count
/// on from those of the window's corner.
void expect_part_of(const Layout& part, const Layout& whole, const Index& lower) {
  std::vector<std::int64_t> held(static_cast<std::size_t>(whole.ranks()), 0);
  std::vector<Index> corner(static_cast<std::size_t>(whole.ranks()));
  model::for_each_index(part.shape(), [&](const Index& index) {
    const Index global = moved(index, lower);
    ASSERT_EQ(part.owners(index), whole.owners(global)) << part.to_string();
    for (int rank = 0; rank < whole.ranks(); ++rank) {
      const auto local = part.to_local(rank, index);
      const auto local_in_whole = whole.to_local(rank, global);
      ASSERT_EQ(local.has_value(), local_in_whole.has_value()) << part.to_string();
      if (!local) continue;
      const auto r = static_cast<std::size_t>(rank);
      if (held[r]++ == 0) corner[r] = *local_in_whole;
      ASSERT_EQ(moved(*local, corner[r]), *local_in_whole) << part.to_string();
      ASSERT_EQ(part.to_global(rank, *local), index) << part.to_string();
    }
  });
  for (int rank = 0; rank < whole.ranks(); ++rank) {
    ASSERT_EQ(part.local_size(rank), held[static_cast<std::size_t>(rank)]) << part.to_string();
    ASSERT_EQ(volume(part.local_shape(rank)), part.local_size(rank)) << part.to_string();
  }
  ASSERT_EQ(part.largest_local_size(), *std::max_element(held.begin(), held.end())) << part.to_string();
}

/// The cells of the part's whole index space hold every element once, with the holders of the whole layout's
/// cell.
void expect_cells(const Layout& part, const Layout& whole, const Index& lower) {
  Region everything;
  Region everything_in_whole;
  for (int i = 0; i < part.dimensions(); ++i) {
    everything.sets.push_back(IndexSet::range(0, part.shape()[i]));
    everything_in_whole.sets.push_back(IndexSet::range(lower[i], lower[i] + part.shape()[i]));
  }
  const auto cells = part.cells(everything);
  const auto cells_of_whole = whole.cells(everything_in_whole);
  model::for_each_index(part.shape(), [&](const Index& index) {
    const auto holds = [&](const Index& where) {
      return [&where](const Layout::Cell& cell) { return model::contains(cell.region, where); };
    };
    const Index global = moved(index, lower);
    ASSERT_EQ(std::count_if(cells.begin(), cells.end(), holds(index)), 1) << part.to_string();
    const auto cell = std::find_if(cells.begin(), cells.end(), holds(index));
    const auto wanted = std::find_if(cells_of_whole.begin(), cells_of_whole.end(), holds(global));
    ASSERT_EQ(cell->contributions, wanted->contributions) << part.to_string();
  });
}

TEST(LayoutWindow, AgreesWithTheWholeLayout) {
  Draw draw(41);
  for (int round = 0; round < 600; ++round) {
    const Shape shape = model::random_shape(draw, 400);
    const int ranks = draw.small(1, 9);
    const auto kind = static_cast<DistributionKind>(round % 6);
    const Layout whole(model::random_distribution(draw, shape, ranks, kind), shape, ranks);
    const Window window = random_window(draw, shape);
    const Layout part = whole.window(window.lower, window.shape);
    expect_part_of(part, whole, window.lower);
    expect_cells(part, whole, window.lower);
    EXPECT_EQ(part.partial(), whole.partial());
  }
}

TEST(LayoutWindow, WindowsOfWindowsAddUp) {
  Draw draw(42);
  for (int round = 0; round < 300; ++round) {
    const Shape shape = model::random_shape(draw, 300);
    const int ranks = draw.small(1, 7);
    const auto kind = static_cast<DistributionKind>(round % 6);
    const Layout whole(model::random_distribution(draw, shape, ranks, kind), shape, ranks);
    const Window one = random_window(draw, shape);
    const Window two = random_window(draw, one.shape);
    const Layout twice = whole.window(one.lower, one.shape).window(two.lower, two.shape);
    const Layout once = whole.window(moved(one.lower, two.lower), two.shape);
    EXPECT_TRUE(twice.equivalent(once)) << twice.to_string() << " and " << once.to_string();
    expect_part_of(twice, whole, moved(one.lower, two.lower));
  }
}

TEST(LayoutWindow, PermutedEmbeddedAndRestrictedWindows) {
  Draw draw(43);
  for (int round = 0; round < 300; ++round) {
    const Shape shape = model::random_shape(draw, 300);
    const int ranks = draw.small(1, 6);
    const auto kind = static_cast<DistributionKind>(round % 6);
    const Layout whole(model::random_distribution(draw, shape, ranks, kind), shape, ranks);
    const Window window = random_window(draw, shape);
    const Layout part = whole.window(window.lower, window.shape);
    std::vector<int> axes(static_cast<std::size_t>(shape.size()));
    std::iota(axes.begin(), axes.end(), 0);
    draw.shuffle(axes);
    Index lower = window.lower;
    for (int i = 0; i < shape.size(); ++i) lower[i] = window.lower[axes[static_cast<std::size_t>(i)]];
    expect_part_of(part.permuted(axes), whole.permuted(axes), lower);

    std::vector<int> members(static_cast<std::size_t>(ranks + 2));
    std::iota(members.begin(), members.end(), 0);
    draw.shuffle(members);
    members.resize(static_cast<std::size_t>(ranks));
    const Layout embedded = part.embedded(members, ranks + 2);
    expect_part_of(embedded, whole.embedded(members, ranks + 2), window.lower);
    EXPECT_TRUE(embedded.restricted(members).equivalent(part)) << embedded.to_string();
  }
}

TEST(LayoutWindow, BlocksDealtOutCyclicallyBeginElsewhere) {
  const Layout whole(BlockCyclic({2, 3}, {4, 5}), {40, 40}, 6);
  // Rows 12 .. of blocks of 4 over 2 begin with process row 1; columns 10 .. of blocks of 5 over 3 with 2.
  const Layout aligned = whole.window({12, 10}, {20, 21});
  EXPECT_EQ(aligned, Layout(BlockCyclic(ProcessGrid({2, 3}, Order::row_major, {1, 2}), {4, 5}), {20, 21}, 6));
  // The same part of the same distribution, whatever is before it and after it.
  EXPECT_EQ(whole.window({14, 11}, {9, 9}), whole.window({22, 26}, {9, 9}));
  EXPECT_EQ(whole.window({14, 11}, {9, 9}).to_string(), whole.window({22, 26}, {9, 9}).to_string());
  EXPECT_NE(whole.window({14, 11}, {9, 9}).to_string(), whole.window({13, 11}, {9, 9}).to_string());
  EXPECT_EQ(whole.window({14, 11}, {9, 9}).to_string(),
            "9x9 block-cyclic:2x3:4x5:first=1,2 over 6 ranks, from 2,1 of 11x10");
  EXPECT_EQ(whole.window({14, 11}, {9, 9}).origin(), (Index{2, 1}));
  EXPECT_EQ(whole.origin(), (Index{0, 0}));
  EXPECT_EQ(whole.whole_shape(), whole.shape());
}

TEST(LayoutWindow, TheTextIdentifiesTheLayout) {
  Draw draw(44);
  std::map<std::string, Layout> seen;
  for (int round = 0; round < 2000; ++round) {
    const Shape shape{draw(1, 12), draw(1, 9)};
    const auto kind = static_cast<DistributionKind>(round % 6);
    const Layout whole(model::random_distribution(draw, shape, 4, kind), shape, 4);
    const Window window = random_window(draw, shape);
    const Layout part = whole.window(window.lower, window.shape);
    const auto [found, is_new] = seen.emplace(part.to_string(), part);
    if (is_new) continue;
    EXPECT_EQ(found->second, part);
    EXPECT_TRUE(found->second.equivalent(part)) << part.to_string();
  }
}

TEST(LayoutWindow, HashesAreEqualExactlyWhereLayoutsAre) {
  const Layout whole(Slab(0), {8, 6}, 3);
  const std::vector<Layout> all{whole,
                                Layout(Slab(1), {8, 6}, 3),
                                Layout(Slab(0), {8, 6}, 4),
                                whole.window({0, 0}, {4, 6}),
                                whole.window({4, 0}, {4, 6}),
                                whole.embedded(std::vector<int>{0, 1, 3}, 4)};
  for (const Layout& a : all) {
    const Layout again = a;
    EXPECT_NE(a.hash(), 0U);
    EXPECT_EQ(a.hash(), again.hash());
    for (const Layout& b : all) EXPECT_EQ(a.hash() == b.hash(), a == b) << a << " and " << b;
  }
  EXPECT_EQ(whole.hash(), Layout(Slab(0), {8, 6}, 3).hash());
}

TEST(LayoutWindow, PlansOnWindowsAreRight) {
  Draw draw(45);
  for (int round = 0; round < 60; ++round) {
    const int ranks = draw.small(1, 6);
    const auto part = [&](const Shape& wanted) {
      Window window{{draw(0, 5), draw(0, 5)}, wanted};
      const Shape whole{window.lower[0] + wanted[0] + draw(0, 5), window.lower[1] + wanted[1] + draw(0, 5)};
      Distribution rule = Slab(0);
      do {
        rule = model::random_distribution(draw, whole, ranks);
      } while (Layout(rule, whole, ranks).partial());
      return Layout(rule, whole, ranks).window(window.lower, window.shape);
    };
    const Shape shape{draw(1, 14), draw(1, 14)};
    Operand source = Operand::of(part(shape), Dtype::f64, Order::column_major);
    Operand destination = Operand::of(part(shape), Dtype::f64, Order::column_major);
    source.dense = destination.dense = false;
    const Topology topology = Topology::regular(ranks, draw.small(0, 1));
    const auto planner = [&](int rank) { return plan_redistribute(source, destination, topology, rank); };
    const Verdict verdict = verify(planner);
    EXPECT_TRUE(verdict.ok()) << source.layout.to_string() << " to " << destination.layout.to_string() << ": "
                              << verdict.faults.front();
  }
}

TEST(LayoutWindow, RefusesWhatLiesOutside) {
  const Layout whole(Slab(0), {10, 8}, 3);
  EXPECT_THROW((void)whole.window({0}, {10}), ArgumentError);
  EXPECT_THROW((void)whole.window({-1, 0}, {4, 4}), ArgumentError);
  EXPECT_THROW((void)whole.window({0, 0}, {4, -1}), ArgumentError);
  EXPECT_THROW((void)whole.window({7, 0}, {4, 4}), ArgumentError);
  EXPECT_THROW((void)whole.window({0, 8}, {4, 1}), ArgumentError);
  EXPECT_NO_THROW((void)whole.window({10, 8}, {0, 0}));
  EXPECT_EQ(whole.window({0, 0}, {10, 8}), whole);
}

}  // namespace
}  // namespace partita
