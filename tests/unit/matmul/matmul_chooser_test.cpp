// Which algorithm is chosen for a multiply, and that its tiles are a partition of the work.
#include "matmul/choose/chooser.hpp"
#include "matmul/choose/memory_limit.hpp"
#include "matmul/choose/meshes.hpp"
#include "matmul/choose/scratch_account.hpp"
#include "support/models/random_layouts.hpp"
#include "support/test.hpp"

namespace partita::multiplication {
namespace {

using partita::testing::RandomLayouts;

struct Matrices {
  Distribution a, b, d;
};

Operand on_heap(const Distribution& distribution, const Shape& shape, int ranks, Dtype dtype = Dtype::f64) {
  return Operand::of(Layout(distribution, shape, ranks), dtype, Order::row_major, Residency::heap);
}

/// Matrices of f64 in the memory of a laptop, or of bf16 in that of GPUs.
Problem pose(const Matrices& lie, std::int64_t m, std::int64_t n, std::int64_t k, const Topology& topology,
             MemorySpace space = MemorySpace::host) {
  const bool on_host = space == MemorySpace::host;
  const auto there = [&](const Distribution& distribution, const Shape& shape) {
    Operand operand = on_heap(distribution, shape, topology.ranks(), on_host ? Dtype::f64 : Dtype::bf16);
    operand.space = space;
    return operand;
  };
  const MatmulOperands operands{there(lie.a, {m, k}), there(lie.b, {k, n}), {}, there(lie.d, {m, n})};
  return make_problem(operands, topology, 0, {}, Machine::find(on_host ? "laptop" : "node-8-gpu"), false);
}

/// How often each (batch, i, j, k) is multiplied, counted one by one.
class Counts {
 public:
  explicit Counts(const Problem& problem)
      : extents_(problem.d.layout.shape()),
        k_(problem.k()),
        counts_(static_cast<std::size_t>(volume(extents_) * k_)) {}

  void add(const Tile& tile) {
    if (tile.empty()) return;
    std::vector<IndexSet> sets = tile.batch;
    sets.insert(sets.end(), {tile.m, tile.n, tile.k});
    add(sets, 0, 0);
  }
  bool all(int expected) const {
    return std::all_of(counts_.begin(), counts_.end(), [=](int count) { return count == expected; });
  }

 private:
  void add(const std::vector<IndexSet>& sets, std::size_t dimension, std::int64_t place) {
    if (dimension == sets.size()) {
      ++counts_[static_cast<std::size_t>(place)];
      return;
    }
    const bool last = dimension + 1 == sets.size();
    const std::int64_t extent = last ? k_ : extents_[static_cast<int>(dimension)];
    for (std::int64_t i = 0; i < sets[dimension].size(); ++i) {
      add(sets, dimension + 1, place * extent + sets[dimension].at(i));
    }
  }

  Shape extents_;
  std::int64_t k_;
  std::vector<int> counts_;
};

bool covers_once(const Problem& problem, const Tiling& tiling) {
  Counts counts(problem);
  for (int rank = 0; rank < problem.ranks(); ++rank) counts.add(tiling.tile(rank));
  return counts.all(1);
}

/// Random layouts of random matrices, some of them with leading dimensions that A or B may lack.
class RandomProblems {
 public:
  explicit RandomProblems(std::uint64_t seed) : random_(seed) {}

  Problem next(int most_ranks, int most_extent) {
    const int ranks = random_.number(1, most_ranks);
    const Shape batch = random_.shape(random_.number(0, 2), 3);
    const std::int64_t m = extent(most_extent), n = extent(most_extent), k = extent(most_extent);
    const MatmulOperands operands{
        operand(batch, m, k, ranks), operand(batch, k, n, ranks), {}, result(batch, m, n, ranks)};
    const Topology topology = Topology::regular(ranks, random_.number(0, 3));
    return make_problem(operands, topology, 0, {}, Machine::find("cluster"), false);
  }

  RandomLayouts& random() { return random_; }

 private:
  std::int64_t extent(int most) { return random_.maybe(0.05) ? 0 : random_.number(1, most); }
  Operand operand(Shape batch, std::int64_t rows, std::int64_t columns, int ranks) {
    Shape shape = random_.maybe(0.3) ? Shape{} : batch;
    shape.push_back(rows);
    shape.push_back(columns);
    return on_heap(whole(shape, ranks), shape, ranks);
  }
  Operand result(Shape shape, std::int64_t rows, std::int64_t columns, int ranks) {
    shape.push_back(rows);
    shape.push_back(columns);
    return on_heap(whole(shape, ranks), shape, ranks);
  }
  Distribution whole(const Shape& shape, int ranks) {
    for (;;) {
      Distribution distribution = random_.distribution(shape, ranks);
      if (!Layout(distribution, shape, ranks).partial()) return distribution;
    }
  }

  RandomLayouts random_;
};

TEST(MatmulChooser, EveryGridAndAssignmentCoversTheWorkOnce) {
  RandomProblems problems(1);
  for (int i = 0; i < 150; ++i) {
    const Problem problem = problems.next(13, 9);
    for (const Tiling& tiling : communication_avoiding_tilings(problem, 2)) {
      ASSERT_TRUE(covers_once(problem, tiling))
          << tiling.name << ", " << tiling.reason << " on " << problem.ranks() << " ranks, "
          << problem.a.to_string() << " by " << problem.b.to_string();
    }
  }
}

TEST(MatmulChooser, TheChosenTilingCoversTheWork) {
  RandomProblems problems(2);
  for (int i = 0; i < 400; ++i) {
    const Problem problem = problems.next(11, 8);
    const Tiling tiling = choose(problem).tiling;
    EXPECT_FALSE(tiling.name.empty());
    EXPECT_FALSE(tiling.reason.empty());
    // Replicas of D repeat the work of a tiling that leaves D where it is.
    if (tiling.stationary_d && problem.d.layout.is_replicated()) continue;
    ASSERT_TRUE(covers_once(problem, tiling)) << tiling.name << ": " << tiling.reason;
  }
}

Problem cube(std::int64_t extent, int ranks) {
  return pose({Slab(0), Slab(0), Slab(0)}, extent, extent, extent, Topology::regular(ranks));
}

TEST(MatmulChooser, PrimeNumbersOfRanksMayLeaveAFewIdle) {
  for (const int ranks : {7, 13, 31, 61, 127, 251, 509, 1021}) {
    const Problem problem = cube(5040, ranks);
    const GridSearch search(problem);
    const std::vector<Grid> grids = search.best(3);
    ASSERT_FALSE(grids.empty());
    const double even = std::pow(5040.0, 3) / ranks;
    for (const Grid& grid : grids) {
      EXPECT_LE(grid.parts(), ranks);
      EXPECT_LE(search.multiplications(grid), 1.06 * even) << ranks << ": " << grid.to_string();
    }
    // A ring of all ranks moves nearly all of an operand to each of them.
    const double ring = search.received({1, ranks, 1, 1});
    EXPECT_LE(search.received(grids.front()), ranks > 60 ? 0.5 * ring : ring);
  }
}

TEST(MatmulChooser, GridsAreTheBestOfAllByBruteForce) {
  RandomProblems problems(3);
  for (int i = 0; i < 200; ++i) {
    Problem problem = problems.next(24, 40);
    problem.options.memory_limit = problems.random().maybe() ? 0 : problems.random().number(1, 20000);
    const std::int64_t limit = problem.options.memory_limit;
    const GridSearch search(problem);
    std::vector<Grid> all;
    for (int b = 1; b <= problem.ranks(); ++b)
      for (int m = 1; b * m <= problem.ranks(); ++m)
        for (int n = 1; b * m * n <= problem.ranks(); ++n)
          for (int k = 1; b * m * n * k <= problem.ranks(); ++k)
            if (limit == 0 || search.scratch({b, m, n, k}) <= limit) all.push_back({b, m, n, k});
    const std::vector<Grid> best = search.best(1);
    ASSERT_EQ(best.empty(), all.empty());
    if (all.empty()) {
      EXPECT_GT(search.smallest_scratch(), limit);
      continue;
    }
    double least_work = std::numeric_limits<double>::infinity();
    for (const Grid& grid : all) least_work = std::min(least_work, search.multiplications(grid));
    EXPECT_LE(search.multiplications(best.front()), 1.03 * least_work);
    for (const Grid& grid : all) {
      if (search.multiplications(grid) > 1.03 * least_work) continue;
      EXPECT_LE(search.received(best.front()), search.received(grid))
          << best.front().to_string() << " or " << grid.to_string();
    }
  }
}

TEST(MatmulChooser, AlignedGridsCutNoOwnersPart) {
  const Problem large = cube(32768, 1024), small = cube(32768, 36);
  EXPECT_EQ(GridSearch(large).best(1, slightly_uneven, {1, 32, 32, 32}).at(0).parts(), 1024);
  for (const Grid& parts : {Grid{1, 6, 6, 6}, Grid{1, 36, 1, 1}, Grid{1, 4, 9, 9}}) {
    const Grid grid = GridSearch(small).best(1, slightly_uneven, parts).at(0);
    EXPECT_TRUE(grid.m % parts.m == 0 || parts.m % grid.m == 0) << grid.to_string();
    EXPECT_TRUE(grid.n % parts.n == 0 || parts.n % grid.n == 0) << grid.to_string();
    EXPECT_TRUE(grid.k % parts.k == 0 || parts.k % grid.k == 0) << grid.to_string();
  }
}

TEST(MatmulChooser, MoreMemoryNeverMovesMore) {
  Problem problem = cube(4096, 64);
  const GridSearch search(problem);
  double last = std::numeric_limits<double>::infinity();
  for (std::int64_t scratch = search.smallest_scratch(); scratch < 1 << 27; scratch = scratch * 5 / 4) {
    problem.options.memory_limit = scratch;
    const Grid grid = search.best(1).at(0);
    EXPECT_LE(search.scratch(grid), scratch);
    EXPECT_LE(search.received(grid), last);
    last = search.received(grid);
  }
  problem.options.memory_limit = 0;
  EXPECT_EQ(search.received(search.best(1).at(0)), last);
}

// An axis of a mesh is split where a grid has fewer parts of its letter: ranks need what they own.
TEST(MatmulChooser, MeshesFollowTheOwners) {
  const Distribution blocks = BlockNonCyclic({8, 8});
  const Problem problem = pose({blocks, blocks, blocks}, 64, 64, 64, Topology::regular(64));
  const std::vector<Tiling> tilings = communication_avoiding_tilings(problem, 1);
  const auto owned = [&](const Tiling& tiling) {
    std::int64_t elements = 0;
    for (int rank = 0; rank < problem.ranks(); ++rank)
      elements += common_size(problem.d.held.by(rank), region_of_d(tiling.tile(rank)));
    return elements;
  };
  EXPECT_TRUE(std::ranges::any_of(tilings, [&](const Tiling& tiling) { return owned(tiling) == 64 * 64; }));
}

TEST(MatmulChooser, MemoryLimitsAreKeptOrRefusedWithWhatWouldDo) {
  RandomProblems problems(4);
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    Problem problem = problems.next(9, 20);
    problem.options.memory_limit = problems.random().number(1, 3000);
    try {
      EXPECT_LE(least_scratch(problem, choose(problem).tiling), problem.options.memory_limit);
    } catch (const LimitRefusal& refusal) {
      ++refused;
      problem.options.memory_limit = refusal.needed();
      EXPECT_NO_THROW(choose(problem)) << refusal.what();
      --problem.options.memory_limit;
      if (problem.options.memory_limit == 0) continue;
      EXPECT_THROW(choose(problem), LimitRefusal) << refusal.what();
    }
  }
  EXPECT_GT(refused, 20);
}

MatmulMethod chosen(const Matrices& lie, std::int64_t m, std::int64_t n, std::int64_t k, int ranks,
                    int ranks_per_node = 0) {
  return choose(pose(lie, m, n, k, Topology::regular(ranks, ranks_per_node))).tiling.method;
}

TEST(MatmulChooser, KnownCases) {
  const Distribution rows = Slab(0), columns = Slab(1), everywhere = Replicated();
  // Rows of A and D, all of B: nothing moves. Likewise columns.
  EXPECT_EQ(chosen({rows, everywhere, rows}, 999, 500, 700, 4), MatmulMethod::local);
  EXPECT_EQ(chosen({everywhere, columns, columns}, 999, 500, 700, 4), MatmulMethod::local);
  // Rows of B must come from all ranks.
  EXPECT_EQ(chosen({rows, rows, rows}, 4097, 4096, 4099, 4), MatmulMethod::all_gather);
  EXPECT_EQ(chosen({columns, columns, columns}, 4097, 4096, 4099, 3), MatmulMethod::all_gather);
  // Long k, cut over the ranks: sums of a small D move, not A or B.
  EXPECT_EQ(chosen({columns, rows, rows}, 512, 512, 65536, 2), MatmulMethod::reduce_scatter);
  EXPECT_EQ(chosen({columns, rows, rows}, 512, 512, 65536, 4, 1), MatmulMethod::reduce_scatter);
  EXPECT_EQ(chosen({columns, rows, everywhere}, 512, 512, 65536, 4, 1), MatmulMethod::all_reduce);
  // Square blocks over a square grid.
  const Distribution blocks = BlockCyclic({2, 2}, {128, 128});
  EXPECT_EQ(chosen({blocks, blocks, blocks}, 4096, 4096, 4096, 4), MatmulMethod::summa_c);
  // One rank.
  EXPECT_EQ(chosen({rows, rows, rows}, 10, 10, 10, 1), MatmulMethod::local);
  // With k of 1 one rank would compute all sums: none of those that are priced must miss it.
  EXPECT_EQ(chosen({everywhere, columns, rows}, 4096, 4096, 1, 36), MatmulMethod::all_gather);
}

MatmulMethod chosen_on_devices(const Matrices& lie, std::int64_t m, int ranks) {
  return choose(pose(lie, m, 8192, 8192, Topology::regular(ranks), MemorySpace::device)).tiling.method;
}

// A few rows take as long as their factors take to be read, and the large one is not to go over a link for
// them.
TEST(MatmulChooser, FewRowsOnDevicesMoveOnlyThemselves) {
  for (const int ranks : {2, 4, 8}) {
    for (const std::int64_t m : {1, 16, 64, 256}) {
      const Matrices columns{Replicated(), Slab(1), Slab(1)}, deep{Slab(1), Slab(0), Slab(0)};
      EXPECT_EQ(chosen_on_devices(columns, m, ranks), MatmulMethod::local) << m << " on " << ranks;
      EXPECT_EQ(chosen_on_devices(deep, m, ranks), MatmulMethod::reduce_scatter) << m << " on " << ranks;
    }
  }
  // Where there are many, sums in f32 would be more than panels of bf16.
  const Matrices deep{Slab(1), Slab(0), Slab(0)};
  EXPECT_EQ(chosen_on_devices(deep, 8192, 4), MatmulMethod::summa_c);
}

TEST(MatmulChooser, DevicesArePricedByTheirProductsOfTheDtype) {
  const Problem problem =
      pose({Slab(0), Slab(1), Slab(1)}, 8192, 8192, 8192, Topology::regular(4), MemorySpace::device);
  const double products = 2.0 * 8192 * 8192 * 8192 / 4 / problem.machine.flops_16;
  const double seconds = choose(problem).seconds;
  EXPECT_GT(seconds, products);
  EXPECT_LT(seconds, 1.5 * products);
}

TEST(MatmulChooser, LongerKNeverGoesBackToAStationaryResult) {
  bool reduces = false;
  for (std::int64_t k = 64; k <= 1 << 20; k *= 2) {
    const bool now = chosen({Slab(1), Slab(0), Slab(0)}, 512, 512, k, 4, 1) == MatmulMethod::reduce_scatter;
    EXPECT_TRUE(now || !reduces) << k;
    reduces = now;
  }
  EXPECT_TRUE(reduces);
}

TEST(MatmulChooser, TheReasonNamesThePricesOfTheOthers) {
  const Tiling tiling = choose(pose({Slab(0), Slab(0), Slab(0)}, 100, 100, 100, Topology::regular(4))).tiling;
  EXPECT_TRUE(contains(tiling.reason, "cost model")) << tiling.reason;
  EXPECT_TRUE(contains(tiling.reason, "summa-a")) << tiling.reason;
  EXPECT_TRUE(contains(tiling.reason, "communication-avoiding")) << tiling.reason;
}

TEST(MatmulChooser, AskedForMethods) {
  using enum MatmulMethod;
  Problem problem = pose({Slab(0), Slab(0), Slab(0)}, 30, 20, 10, Topology::regular(3));
  for (const MatmulMethod method :
       {all_gather, reduce_scatter, summa_c, summa_a, summa_b, communication_avoiding}) {
    problem.options.method = method;
    const Tiling tiling = choose(problem).tiling;
    EXPECT_EQ(tiling.method, method);
    EXPECT_TRUE(covers_once(problem, tiling)) << tiling.name;
  }
  problem.options.method = local;
  EXPECT_THROW(choose(problem), ArgumentError);
  problem = pose({Slab(0), Slab(0), Slab(1)}, 30, 20, 10, Topology::regular(3));
  problem.options.method = summa_a;
  problem.options.memory_limit = 8;
  EXPECT_THROW(choose(problem), ArgumentError);
}

TEST(MatmulChooser, EveryRankChoosesTheSame) {
  RandomProblems problems(5);
  for (int i = 0; i < 50; ++i) {
    Problem problem = problems.next(7, 30);
    const Tiling first = choose(problem).tiling;
    for (problem.rank = 1; problem.rank < problem.ranks(); ++problem.rank) {
      const Tiling other = choose(problem).tiling;
      EXPECT_EQ(first.name, other.name);
      EXPECT_EQ(first.reason, other.reason);
      for (int rank = 0; rank < problem.ranks(); ++rank) {
        EXPECT_EQ(first.tile(rank).m, other.tile(rank).m);
        EXPECT_EQ(first.tile(rank).k, other.tile(rank).k);
      }
    }
  }
}

}  // namespace
}  // namespace partita::multiplication
