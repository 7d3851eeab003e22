#include "support/models/layout_model.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using model::Draw;

/// Every element is on the ranks that it should be on, and on no others; local and global indices are
/// inverse.
void expect_owners(const Layout& layout, const std::function<model::Owners(const Index&)>& expected) {
  std::vector<Region> regions;
  std::vector<std::int64_t> held(static_cast<std::size_t>(layout.ranks()), 0);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    regions.push_back(layout.region(rank));
    ASSERT_EQ(layout.local_shape(rank), regions.back().shape());
  }
  model::for_each_index(layout.shape(), [&](const Index& index) {
    const std::vector<int> owners = model::all(expected(index));
    ASSERT_EQ(layout.owners(index), owners) << layout.to_string();
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      const bool owned = std::binary_search(owners.begin(), owners.end(), rank);
      ASSERT_EQ(model::contains(regions[static_cast<std::size_t>(rank)], index), owned) << layout.to_string();
      const auto local = layout.to_local(rank, index);
      ASSERT_EQ(local.has_value(), owned) << layout.to_string();
      if (!owned) continue;
      ++held[static_cast<std::size_t>(rank)];
      ASSERT_EQ(layout.to_global(rank, *local), index) << layout.to_string();
    }
  });
  for (int rank = 0; rank < layout.ranks(); ++rank)
    ASSERT_EQ(layout.local_size(rank), held[static_cast<std::size_t>(rank)]) << layout.to_string();
  ASSERT_EQ(layout.largest_local_size(), *std::max_element(held.begin(), held.end())) << layout.to_string();
}

/// The cells of `region` hold each of its elements once, with the right holders.
void expect_cells(const Layout& layout, const Region& region,
                  const std::function<model::Owners(const Index&)>& expected) {
  const auto cells = layout.cells(region);
  std::int64_t total = 0;
  for (const Layout::Cell& cell : cells) {
    ASSERT_FALSE(cell.region.empty());
    total += cell.region.size();
  }
  ASSERT_EQ(total, region.size()) << layout.to_string();
  model::for_each_index(layout.shape(), [&](const Index& index) {
    int found = 0;
    for (const Layout::Cell& cell : cells) {
      if (!model::contains(cell.region, index)) continue;
      ++found;
      ASSERT_EQ(cell.contributions, expected(index)) << layout.to_string();
    }
    ASSERT_EQ(found, model::contains(region, index) ? 1 : 0) << layout.to_string();
  });
}

TEST(Layout, OwnersAndCellsAgreeWithBruteForce) {
  Draw draw(11);
  for (int round = 0; round < 600; ++round) {
    const Shape shape = model::random_shape(draw, 500);
    const int ranks = draw.small(1, 13);
    const auto kind = static_cast<DistributionKind>(round % 6);
    const Distribution distribution = model::random_distribution(draw, shape, ranks, kind);
    const auto expected = [&](const Index& index) {
      return model::owners(distribution, shape, ranks, index);
    };
    const Layout layout(distribution, shape, ranks);
    ASSERT_EQ(Distribution::parse(distribution.to_string()), distribution);
    expect_owners(layout, expected);
    const Layout reader(model::random_distribution(draw, shape, ranks), shape, ranks);
    expect_cells(layout, reader.region(draw.small(0, ranks - 1)), expected);
    expect_cells(layout, Layout(Replicated{}, shape, 1).region(0), expected);
    if (HasFatalFailure()) return;
  }
}

TEST(Layout, SaysWhetherItIsReplicatedOrPartial) {
  const auto layout = [](const char* text) { return Layout(Distribution::parse(text), {5, 7}, 12); };
  EXPECT_FALSE(layout("slab:0").is_replicated());
  EXPECT_TRUE(layout("replicated").is_replicated());
  EXPECT_TRUE(layout("mesh:x=2,y=3:x,-").is_replicated());
  EXPECT_FALSE(layout("mesh:x=2,y=3:x,y").is_replicated());
  EXPECT_FALSE(layout("mesh:x=2,y=1:x,-").is_replicated());
  EXPECT_FALSE(layout("mesh:x=2,y=3:x,-").partial());
  const Layout partial = layout("mesh:x=2,y=3,z=2:x,-;partial=min:y");
  EXPECT_EQ(partial.partial(), Partial{Reduction::min});
  EXPECT_FALSE(partial.is_replicated());                             // no rank holds a whole value
  EXPECT_FALSE(layout("mesh:x=2,y=1:x,-;partial=sum:y").partial());  // one contribution is the value
  EXPECT_TRUE(layout("mesh:x=2,y=1,z=2:x,-;partial=sum:y").is_replicated());
  const auto cells = partial.cells(partial.region(7));
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells.front().contributions, (std::vector<std::vector<int>>{{6, 7}, {8, 9}, {10, 11}}));
}

/// ScaLAPACK's NUMROC: how many of n elements in blocks of nb process iproc of nprocs holds, if process
/// isrcproc holds the first.
std::int64_t numroc(std::int64_t n, std::int64_t nb, std::int64_t iproc, std::int64_t isrcproc,
                    std::int64_t nprocs) {
  const std::int64_t mydist = (nprocs + iproc - isrcproc) % nprocs;
  const std::int64_t nblocks = n / nb;
  std::int64_t count = (nblocks / nprocs) * nb;
  const std::int64_t extrablks = nblocks % nprocs;
  if (mydist < extrablks) {
    count += nb;
  } else if (mydist == extrablks) {
    count += n % nb;
  }
  return count;
}

TEST(Layout, BlockCyclicCountsAreThoseOfNumroc) {
  Draw draw(12);
  for (int round = 0; round < 500; ++round) {
    const Extents grid{draw(1, 7), draw(1, 7)};
    const Extents first{draw(0, grid[0] - 1), draw(0, grid[1] - 1)};
    const Extents block{draw(1, 70), draw(1, 70)};
    const Shape shape{draw(0, 2000), draw(0, 2000)};
    const ProcessGrid processes(grid, draw(0, 1) == 0 ? Order::row_major : Order::column_major, first);
    const Layout layout(BlockCyclic(processes, block), shape, processes.size());
    for (int rank = 0; rank < processes.size(); ++rank) {
      const Extents at = *processes.coordinates(rank);
      const Shape local = layout.local_shape(rank);
      for (int i = 0; i < 2; ++i)
        ASSERT_EQ(local[i], numroc(shape[i], block[i], at[i], first[i], grid[i])) << layout.to_string();
    }
  }
}

TEST(Layout, SlabsGiveTheFirstRanksOneMore) {
  const Layout layout(Slab(1), {3, 11}, 4);
  EXPECT_EQ(layout.local_shape(0), (Shape{3, 3}));
  EXPECT_EQ(layout.local_shape(2), (Shape{3, 3}));
  EXPECT_EQ(layout.local_shape(3), (Shape{3, 2}));
  EXPECT_EQ(to_string(layout.region(3)), "[0,3) x [9,11)");
  const Layout few(Slab(0), {2, 3}, 5);
  EXPECT_EQ(few.local_size(1), 3);
  EXPECT_EQ(few.local_size(4), 0);
  EXPECT_EQ(to_string(few.region(4)), "nothing");
}

TEST(Layout, MeshesCutUnevenExtentsByTheirRule) {
  const Layout ceil(Distribution::parse("mesh:x=2,y=2:(x,y)"), {5}, 4);
  const Layout balanced(Distribution::parse("mesh:x=2,y=2:(y,x);uneven=balanced"), {5}, 6);
  EXPECT_EQ(to_string(ceil.region(2)), "[4,5)");
  EXPECT_EQ(ceil.local_size(3), 0);
  EXPECT_EQ(to_string(balanced.region(0)), "[0,2)");
  EXPECT_EQ(to_string(balanced.region(2)), "[2,3)");
  EXPECT_EQ(to_string(balanced.region(1)), "[3,4)");
  EXPECT_EQ(balanced.local_size(5), 0);  // the mesh is smaller than the group
}

TEST(Layout, ScalarsAreWholeOrAbsent) {
  const Layout everywhere(Replicated{}, {}, 3);
  EXPECT_EQ(everywhere.local_size(2), 1);
  EXPECT_EQ(everywhere.owners({}), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(everywhere.cells(everywhere.region(0)).size(), 1U);
  const Layout some(Distribution::parse("mesh:x=2:"), {}, 3);
  EXPECT_EQ(some.local_size(1), 1);
  EXPECT_TRUE(some.region(2).empty());
  EXPECT_EQ(some.local_size(2), 0);
  EXPECT_FALSE(some.to_local(2, {}));
  EXPECT_TRUE(some.to_local(1, {}));
  EXPECT_TRUE(some.cells(some.region(2)).empty());
  EXPECT_TRUE(intersect(some.region(2), some.region(0)).empty());
  EXPECT_EQ(Layout(BlockCyclic(ProcessGrid(), {}), {}, 2).local_size(1), 0);
  EXPECT_THROW(Layout(Slab(0), {}, 2), ArgumentError);
}

TEST(Layout, PermutedLayoutsFollowTheTransposedArray) {
  Draw draw(13);
  for (int round = 0; round < 300; ++round) {
    const Shape shape = model::random_shape(draw, 300);
    const int ranks = draw.small(1, 9);
    const Layout layout(model::random_distribution(draw, shape, ranks), shape, ranks);
    std::vector<int> axes(static_cast<std::size_t>(shape.size()));
    std::iota(axes.begin(), axes.end(), 0);
    draw.shuffle(axes);
    const Layout moved = layout.permuted(axes);
    EXPECT_EQ(moved.distribution().kind(), layout.distribution().kind());
    EXPECT_EQ(moved.partial(), layout.partial());
    expect_owners(moved, [&](const Index& index) {
      Index source = index;
      for (int i = 0; i < index.size(); ++i) source[axes[static_cast<std::size_t>(i)]] = index[i];
      return model::owners(layout.distribution(), shape, ranks, source);
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_THROW((void)Layout(Slab(0), {3, 4}, 2).permuted(std::array<int, 2>{0, 0}), ArgumentError);
  EXPECT_THROW((void)Layout(Slab(0), {3, 4}, 2).permuted(std::array<int, 1>{0}), ArgumentError);
}

model::Owners renamed(model::Owners owners, const std::vector<int>& names) {
  for (auto& replicas : owners) {
    for (int& rank : replicas) rank = names[static_cast<std::size_t>(rank)];
    std::sort(replicas.begin(), replicas.end());
  }
  return owners;
}

TEST(Layout, EmbeddedLayoutsSitOnTheNamedRanks) {
  Draw draw(14);
  for (int round = 0; round < 400; ++round) {
    const Shape shape = model::random_shape(draw, 200);
    const int inner = draw.small(1, 6);
    const int middle = inner + draw.small(0, 3);
    const int outer = middle + draw.small(0, 3);
    const Layout layout(model::random_distribution(draw, shape, inner), shape, inner);
    const auto some = [&](int size, int total) {
      std::vector<int> ranks(static_cast<std::size_t>(total));
      std::iota(ranks.begin(), ranks.end(), 0);
      draw.shuffle(ranks);
      ranks.resize(static_cast<std::size_t>(size));
      return ranks;
    };
    const std::vector<int> once = some(inner, middle);
    const std::vector<int> again = some(middle, outer);
    const Layout in_middle = layout.embedded(once, middle);
    const Layout in_outer = in_middle.embedded(again, outer);
    const auto expected_middle = [&](const Index& index) {
      return renamed(model::owners(layout.distribution(), shape, inner, index), once);
    };
    const auto expected_outer = [&](const Index& index) { return renamed(expected_middle(index), again); };
    expect_owners(in_middle, expected_middle);
    expect_owners(in_outer, expected_outer);
    expect_cells(in_outer, Layout(Replicated{}, shape, 1).region(0), expected_outer);
    EXPECT_EQ(in_outer.partial(), layout.partial());
    EXPECT_TRUE(in_outer.restricted(again).equivalent(in_middle));
    if (HasFatalFailure()) return;
  }
}

TEST(Layout, EmbeddedLayoutsAreWrittenByTheirOwnRuleWhereThereIsOne) {
  const auto text = [](const char* rule, std::vector<int> ranks, int total) {
    const Layout inner(Distribution::parse(rule), {4, 6}, static_cast<int>(ranks.size()));
    return inner.embedded(ranks, total).to_string();
  };
  EXPECT_EQ(text("block-cyclic:1x2:2x2", {3, 1}, 4), "4x6 block-cyclic:1x2:2x2:ranks=3,1 over 4 ranks");
  EXPECT_EQ(text("block-noncyclic:2x2", {0, 1, 2, 3}, 6), "4x6 block-noncyclic:2x2 over 6 ranks");
  EXPECT_EQ(text("box:0,0-4,2;0,2-4,6", {1, 0}, 3), "4x6 box:0,2-4,6;0,0-4,2 over 3 ranks");
  EXPECT_EQ(text("slab:0", {1, 3}, 4), "4x6 slab:0 over 2 ranks, on ranks 1,3 of 4");
  EXPECT_EQ(text("slab:0", {0, 1}, 2), "4x6 slab:0 over 2 ranks");
  EXPECT_EQ(text("slab:0", {0, 1}, 4), "4x6 slab:0 over 2 ranks, on ranks 0,1 of 4");
  EXPECT_EQ(text("mesh:x=2:x,-", {0, 1}, 4), "4x6 mesh:x=2:x,- over 4 ranks");
  EXPECT_NE(Layout(Slab(0), {4}, 2).embedded(std::array<int, 2>{0, 1}, 3), Layout(Slab(0), {4}, 3));
  const Layout inner(Slab(0), {4}, 2);
  EXPECT_EQ(inner.embedded(std::array<int, 2>{2, 0}, 3), inner.embedded(std::array<int, 2>{2, 0}, 3));
  EXPECT_THROW((void)inner.embedded(std::array<int, 1>{0}, 3), ArgumentError);
  EXPECT_THROW((void)inner.embedded(std::array<int, 2>{0, 3}, 3), ArgumentError);
  EXPECT_THROW((void)inner.embedded(std::array<int, 2>{1, 1}, 3), ArgumentError);
}

TEST(Layout, ReplicasAreChosenNear) {
  const std::array<int, 4> replicas{1, 4, 6, 7};
  const Topology pairs = Topology::regular(24, 2);
  for (const int rank : replicas) EXPECT_EQ(Layout::choose_replica(replicas, rank, pairs), rank);
  EXPECT_EQ(Layout::choose_replica(replicas, 0, pairs), 1);
  EXPECT_EQ(Layout::choose_replica(replicas, 5, pairs), 4);
  const Topology scattered = Topology::of({1, 0, 0, 1, 2, 2, 0, 1});
  EXPECT_EQ(Layout::choose_replica(replicas, 3, scattered), 7);
  EXPECT_EQ(Layout::choose_replica(replicas, 5, scattered), 4);
  EXPECT_THROW((void)Layout::choose_replica({}, 0, pairs), ArgumentError);
}

std::map<int, int> readers_of_replicas(const std::vector<int>& replicas, const std::vector<int>& readers,
                                       const Topology& topology) {
  std::map<int, int> count;
  for (const int reader : readers) ++count[Layout::choose_replica(replicas, reader, topology)];
  return count;
}

TEST(Layout, ReplicasAreChosenEvenly) {
  std::vector<int> neighbours(16);
  std::iota(neighbours.begin(), neighbours.end(), 8);
  using Count = std::map<int, int>;
  for (const int per_node : {0, 4}) {
    const Topology topology = Topology::regular(24, per_node);
    EXPECT_EQ(readers_of_replicas({1, 4, 6, 7}, neighbours, topology),
              (Count{{1, 4}, {4, 4}, {6, 4}, {7, 4}}));
    EXPECT_EQ(readers_of_replicas({0, 1}, neighbours, topology), (Count{{0, 8}, {1, 8}}));
  }
  const Count one_each{{0, 1}, {4, 1}, {8, 1}, {12, 1}};
  EXPECT_EQ(readers_of_replicas({0, 4, 8, 12}, {1, 5, 9, 13}, Topology::regular(16)), one_each);
  EXPECT_EQ(readers_of_replicas({0, 4, 8, 12}, {1, 17, 33, 49}, Topology::regular(64)), one_each);
}

TEST(Layout, OneRankOfThousandsAsksOnlyForWhatItMeets) {
  const Shape shape{100'000, 100'000};
  const Layout source(BlockCyclic({64, 64}, {64, 64}), shape, 4096);
  for (const ProcessGrid& grid : {ProcessGrid({64, 64}), ProcessGrid({32, 128}, Order::column_major)}) {
    const Layout destination(BlockCyclic(grid, {96, 96}), shape, 4096);
    for (const int rank : {0, 1, 2047, 3071, 4095}) {
      const Region region = destination.region(rank);
      const auto cells = source.cells(region);
      EXPECT_LT(cells.size(), 100U);
      std::int64_t elements = 0;
      std::size_t intervals = 0;
      for (const Layout::Cell& cell : cells) {
        elements += cell.region.size();
        for (const IndexSet& set : cell.region.sets) intervals += set.intervals().size();
        const Index index{cell.region.sets[0].back(), cell.region.sets[1].front()};
        EXPECT_EQ(source.owners(index), cell.contributions.front());
      }
      EXPECT_EQ(elements, destination.local_size(rank));
      EXPECT_LT(intervals, 1000U);
    }
  }
}

TEST(Layout, RefusesRulesThatDoNotFit) {
  const auto refused = [](const char* text, const Shape& shape, int ranks, const std::string& hint) {
    EXPECT_ERROR(ArgumentError, Layout(Distribution::parse(text), shape, ranks), hint);
  };
  refused("slab:0", {3}, 0, "at least one rank");
  refused("slab:0", {-3}, 2, "negative extent");
  refused("slab:0", {std::int64_t{1} << 40, std::int64_t{1} << 40}, 2, "2^63 - 1");
  refused("slab:2", {3, 4}, 2, "slab:2 distributes axis 2, but the array 3x4 has 2 dimensions");
  refused("block-cyclic:2x2:1x1", {3}, 4, "has 2 dimensions; the array 3 has 1");
  refused("block-cyclic:2x2:1", {3, 3}, 4, "dimensions");
  refused("block-cyclic:2x2:1x0", {3, 3}, 4, "at least 1");
  refused("block-cyclic:2x3:1x1", {3, 3}, 5, "needs 6 ranks; there are 5");
  refused("block-cyclic:2x1:1x1:ranks=0,7", {3, 3}, 7, "needs 8 ranks; there are 7");
  refused("block-noncyclic:2x2:2x1", {3, 3}, 4, "2 blocks of 1 do not cover the extent 3 of dimension 1");
  refused("mesh:x=2,y=3:x,y", {3, 3}, 5, "needs 6 ranks; there are 5");
  refused("mesh:x=2,y=3:x", {3, 3}, 6, "has 1 dimensions; the array 3x3 has 2");
  refused("box:0-2;2-3", {3}, 1, "2 boxes");
  const Layout layout(Slab(0), {3, 4}, 2);
  EXPECT_THROW((void)layout.region(2), ArgumentError);
  EXPECT_THROW((void)layout.region(-1), ArgumentError);
  EXPECT_THROW((void)layout.owners({3, 0}), ArgumentError);
  EXPECT_THROW((void)layout.owners({0, -1}), ArgumentError);
  EXPECT_THROW((void)layout.owners({0}), ArgumentError);
  EXPECT_THROW((void)layout.to_local(0, {0}), ArgumentError);
  EXPECT_THROW((void)layout.to_global(0, {2, 0}), ArgumentError);
  EXPECT_THROW((void)layout.to_global(0, {0}), ArgumentError);
  EXPECT_THROW((void)layout.cells(Layout(Slab(0), {3}, 2).region(0)), ArgumentError);
  const PartitionSpec twice{{{"x"}, {"x"}}, {}, Reduction::sum, Uneven::ceil};
  EXPECT_THROW(Layout(Partitioned{Mesh({{"x", 2}}), twice}, {3, 3}, 2), ArgumentError);
}

}  // namespace
}  // namespace partita
