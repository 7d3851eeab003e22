// What plans of matrix multiply receive, compared with the lower bound, up to 4,096 ranks.
#include "matmul/choose/chooser.hpp"
#include "support/models/random_layouts.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using multiplication::common_size;
using multiplication::Tile;

Operand on_heap(const Distribution& distribution, const Shape& shape, int ranks) {
  return Operand::of(Layout(distribution, shape, ranks), Dtype::f64, Order::row_major, Residency::heap);
}

MatmulOperands square(std::int64_t n, int ranks, const Distribution& a, const Distribution& b,
                      const Distribution& d) {
  return {on_heap(a, {n, n}, ranks), on_heap(b, {n, n}, ranks), {}, on_heap(d, {n, n}, ranks)};
}

/// What a rank takes in by its tile and the tiles of all others: counted from the sets alone.
double taken_in(const multiplication::Problem& problem, const multiplication::Tiling& tiling, int rank) {
  const Tile tile = tiling.tile(rank);
  const Region a = region_of(problem, tile, true), b = region_of(problem, tile, false);
  std::int64_t elements = 0;
  if (!tile.empty()) {
    elements += a.size() - common_size(a, problem.a.layout.region(rank));
    elements += b.size() - common_size(b, problem.b.layout.region(rank));
  }
  if (tiling.stationary_d) return static_cast<double>(elements);
  const Region own = problem.d.layout.region(rank);
  for (int other = 0; other < problem.ranks(); ++other) {
    if (other == rank) continue;
    const Tile theirs = tiling.tile(other);
    if (!theirs.empty()) elements += common_size(own, region_of_d(theirs));
  }
  return static_cast<double>(elements);
}

class OfManyRanks {
 public:
  OfManyRanks(std::int64_t n, int ranks, int ranks_per_node, const Distribution& a, const Distribution& b,
              const Distribution& d)
      : n_(n),
        topology_(Topology::regular(ranks, ranks_per_node)),
        operands_(square(n, ranks, a, b, d)),
        machine_(Machine::find("cluster")) {}

  /// Scratch in addition to the operands, in elements: without limit, or what makes `times` the operands.
  static std::int64_t scratch(std::int64_t n, int ranks, double times) {
    const double operands = 3.0 * static_cast<double>(n) * static_cast<double>(n) / ranks;
    return static_cast<std::int64_t>((times - 1) * operands);
  }

  void limit(double times) {
    scratch_ = scratch(n_, topology_.ranks(), times);
    options_.memory_limit = scratch_ * size_of(Dtype::f64);
  }
  double bound() const { return matmul_volume_bound(n_, n_, n_, topology_.ranks(), scratch_); }
  /// What is expected of plans: without limit the three faces of a cube; else a resident tile of D, its
  /// share.
  double target() const {
    const double side = static_cast<double>(n_), share = side * side / topology_.ranks();
    const double products = share * side;
    return scratch_ == 0 ? 3 * std::pow(products, 2.0 / 3) : 2 * products / std::sqrt(share) + share;
  }

  Plan plan(int rank) const { return plan_matmul(operands_, topology_, rank, options_, machine_); }
  /// By the tiles alone.
  double received(int rank) const {
    const auto problem = multiplication::make_problem(operands_, topology_, rank, options_, machine_, false);
    return taken_in(problem, choose(problem).tiling, rank);
  }

 private:
  std::int64_t n_;
  Topology topology_;
  MatmulOperands operands_;
  Machine machine_;
  MatmulOptions options_;
  std::int64_t scratch_ = 0;
};

void expect_near_the_bound(const OfManyRanks& problem, std::initializer_list<int> ranks) {
  for (const int rank : ranks) {
    const Plan plan = problem.plan(rank);
    const auto received = static_cast<double>(matmul_volume(plan).received);
    EXPECT_LE(received, 1.08 * problem.target()) << plan.method << ", rank " << rank << ": " << plan.reason;
    EXPECT_GE(received, problem.bound()) << plan.method << ", rank " << rank;
    EXPECT_EQ(received, problem.received(rank)) << plan.method << ", rank " << rank;
  }
}

const Distribution blocks = BlockNonCyclic({64, 64});
const Distribution cyclic = BlockCyclic({64, 64}, {128, 128});

TEST(MatmulVolume, FourThousandRanksWithoutLimit) {
  expect_near_the_bound(OfManyRanks(131072, 4096, 64, blocks, blocks, blocks), {777, 3071});
  expect_near_the_bound(OfManyRanks(131072, 4096, 64, cyclic, cyclic, cyclic), {777, 3071});
}

TEST(MatmulVolume, FourThousandRanksInOneAndAHalfTimesTheOperands) {
  for (const Distribution& lie : {blocks, cyclic}) {
    OfManyRanks problem(131072, 4096, 64, lie, lie, lie);
    problem.limit(1.5);
    expect_near_the_bound(problem, {777, 3071});
    EXPECT_LE(matmul_volume(problem.plan(3071)).scratch, OfManyRanks::scratch(131072, 4096, 1.5));
  }
}

// Tiles of 64 x 64 on slabs of 32 rows: 64 owners of A, 4,096 of B, and yet few steps.
TEST(MatmulVolume, FourThousandRanksOfSlabsInOneAndAHalfTimesTheOperands) {
  for (const int axis : {0, 1}) {
    OfManyRanks problem(131072, 4096, 64, Slab(axis), Slab(axis), Slab(axis));
    problem.limit(1.5);
    expect_near_the_bound(problem, {777, 3071});
    const Plan plan = problem.plan(3071);
    EXPECT_LE(matmul_volume(plan).scratch, OfManyRanks::scratch(131072, 4096, 1.5));
    EXPECT_LT(plan.steps.size(), 50000u) << plan.method;
    EXPECT_LE(plan.works.size(), 512u) << plan.method;
  }
}

TEST(MatmulVolume, TheCheapestResultIsNearTheBoundToo) {
  const int ranks = 4096;
  const Topology topology = Topology::regular(ranks, 64);
  const Operand a = on_heap(blocks, {131072, 131072}, ranks);
  const Layout d = cheapest_result(a, a, topology, {}, Machine::find("cluster"));
  expect_near_the_bound(OfManyRanks(131072, ranks, 64, blocks, blocks, d.distribution()), {3071});
}

TEST(MatmulVolume, TheBoundByHand) {
  // 8 ranks: three faces of (8^3 / 8)^(2/3) = 16, of which each owns three eighths of 64.
  EXPECT_NEAR(matmul_volume_bound(8, 8, 8, 8), 48 - 24, 1e-9);
  // 2 ranks along the longest dimension: the least of Al Daas et al. (2022), case 1 of 3: 16 x 4 of A and
  // D each in halves, and all of B, of which a rank owns a half.
  EXPECT_NEAR(matmul_volume_bound(16, 4, 4, 2), 8, 1e-9);
  EXPECT_NEAR(matmul_volume_bound(4, 4, 16, 2), 8, 1e-9);  // of D then
  // Case 2: the longest two dimensions are cut, 8 x 8 x 1 on 4 ranks: 2 (64 / 4)^(1/2) + 64 / 4, less what is
  // owned.
  EXPECT_NEAR(matmul_volume_bound(8, 8, 1, 4), 2 * 4 + 16 - (2 + 2 + 16), 1e-9);
  // 128 multiplications within 48 owned elements and 1 more: 2 V / 7 - 48 is less than nothing.
  EXPECT_NEAR(matmul_volume_bound(8, 8, 8, 4, 1), 3 * std::pow(128.0, 2.0 / 3) - 48, 1e-9);
  // Little memory: 2 V / sqrt(M) of 4,096^3 / 4,096 multiplications.
  EXPECT_NEAR(matmul_volume_bound(4096, 4096, 4096, 4096, 1),
              2 * 4096.0 * 4096.0 / std::sqrt(3 * 4096.0 + 1) - 3 * 4096, 1e-6);
  // Every rank has all of B: nothing moves where A and D are cut alike.
  EXPECT_EQ(matmul_volume_bound(16, 4, 4, 2, 0, {0, 0, 16, 0}), 0);
  // One rank does all of it with what it owns.
  EXPECT_EQ(matmul_volume_bound(8, 8, 8, 4, 0, {512, 64, 64, 64}), 0);
  EXPECT_THROW(matmul_volume_bound(8, 8, 8, 0), ArgumentError);
  EXPECT_THROW(matmul_volume_bound(8, -1, 8, 1), ArgumentError);
  EXPECT_THROW(matmul_volume_bound(8, 8, 8, 1, -1), ArgumentError);
}

double multiplications(const Plan& plan) {
  double all = 0;
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::compute) continue;
    const Work& work = plan.works[static_cast<std::size_t>(step.work)];
    if (std::holds_alternative<Multiply>(work)) all += flops(work, false) / 2;
  }
  return all;
}

/// By any method, with as much scratch as it takes.
void expect_no_less_than_the_bound(const MatmulOperands& operands, const Topology& topology) {
  const auto largest = [](const Operand& operand) {
    return static_cast<double>(operand.layout.largest_local_size());
  };
  const Shape &a = operands.a.layout.shape(), &d = operands.d.layout.shape();
  for (const MatmulMethod method : {MatmulMethod::automatic, MatmulMethod::summa_a, MatmulMethod::summa_b,
                                    MatmulMethod::summa_c, MatmulMethod::communication_avoiding}) {
    MatmulShares shares{0, largest(operands.a), largest(operands.b), largest(operands.d)};
    MatmulVolume most;
    std::string made_by;
    for (int rank = 0; rank < topology.ranks(); ++rank) {
      Plan plan;
      try {
        plan = plan_matmul(operands, topology, rank, {.method = method});
      } catch (const ArgumentError&) {
        break;  // the method does not suit the operands, on any rank
      }
      const MatmulVolume volume = matmul_volume(plan);
      most.received = std::max(most.received, volume.received);
      most.scratch = std::max(most.scratch, volume.scratch);
      shares.multiplications = std::max(shares.multiplications, multiplications(plan));
      made_by = plan.method;
    }
    if (made_by.empty()) continue;
    const double bound = matmul_volume_bound(d[0], d[1], a[1], topology.ranks(),
                                             std::max<std::int64_t>(1, most.scratch), shares);
    EXPECT_GE(static_cast<double>(most.received), bound * (1 - 1e-9))
        << made_by << ": " << operands.a.to_string() << " by " << operands.b.to_string() << " into "
        << operands.d.to_string();
  }
}

TEST(MatmulVolume, PlansTakeInWhatTheirTilesSay) {
  testing::RandomLayouts random(7);
  for (int i = 0; i < 150; ++i) {
    const int ranks = random.number(1, 9);
    const std::int64_t m = random.number(1, 30), n = random.number(1, 30), k = random.number(1, 30);
    const auto matrix = [&](const Shape& shape) {
      for (;;) {
        const Layout layout = random.layout(shape, ranks);
        if (layout.partial()) continue;
        return Operand::of(layout, Dtype::f64, Order::row_major, Residency::heap);
      }
    };
    const MatmulOperands operands{matrix({m, k}), matrix({k, n}), {}, matrix({m, n})};
    const Topology topology = Topology::regular(ranks, random.number(0, 3));
    expect_no_less_than_the_bound(operands, topology);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto problem = multiplication::make_problem(operands, topology, rank, {}, {}, false);
      const multiplication::Tiling tiling = choose(problem).tiling;
      if (!tiling.stationary_d && problem.d.layout.is_replicated()) continue;
      const Plan plan = plan_matmul(operands, topology, rank);
      EXPECT_EQ(static_cast<double>(matmul_volume(plan).received), taken_in(problem, tiling, rank))
          << plan.method << ": " << plan.reason;
    }
  }
}

/// Every element has one holder.
Layout layout_without_replicas(testing::RandomLayouts& random, const Shape& shape, int ranks) {
  for (;;) {
    Layout layout = random.layout(shape, ranks);
    if (!layout.partial() && !layout.is_replicated()) return layout;
  }
}

// Cyclic ones, boxes and uneven parts are multiplied in place.
TEST(MatmulVolume, DevicesTakeInNoMoreThanHostsByTheSameMethod) {
  testing::RandomLayouts random(11);
  int by_the_same = 0, plans = 0;
  for (int i = 0; i < 300; ++i) {
    const int ranks = random.number(1, 9);
    const int most = i % 4 == 0 ? 400 : 40;  // of these neighbours put pieces into each other's memory
    const std::int64_t m = random.number(1, most), n = random.number(1, most), k = random.number(1, most);
    const auto matrix = [&](const Shape& shape) {
      return Operand::of(layout_without_replicas(random, shape, ranks), Dtype::f32, Order::row_major,
                         random.maybe() ? Residency::heap : Residency::ordinary);
    };
    MatmulOperands operands{matrix({m, k}), matrix({k, n}), {}, matrix({m, n})};
    MatmulOptions options;
    if (random.maybe()) options.method = static_cast<MatmulMethod>(random.number(5, 8));
    const Topology topology = Topology::regular(ranks, random.number(0, 3));
    for (int rank = 0; rank < ranks; ++rank) {
      const Plan of_host = plan_matmul(operands, topology, rank, options);
      MatmulOperands there = operands;
      there.a.space = there.b.space = there.d.space = MemorySpace::device;
      const Plan of_device = plan_matmul(there, topology, rank, options);
      ++plans;
      // Prices differ, and by them methods and which rank has which cell of a grid.
      if (of_device.method == of_host.method && !of_host.method.starts_with("communication-avoiding")) {
        ++by_the_same;
        EXPECT_LE(matmul_volume(of_device).received, matmul_volume(of_host).received)
            << of_device.method << ": " << operands.a.to_string() << " by " << operands.b.to_string();
      }
      for (const Buffer& buffer : of_device.buffers) {
        EXPECT_FALSE(contains(buffer.name, "redistributed")) << buffer.name;
        EXPECT_NE(buffer.name, "d summed");
      }
    }
  }
  EXPECT_GT(by_the_same, plans / 2);
}

std::string cheapest(const Distribution& a, const Distribution& b, const Shape& shape_a, const Shape& shape_b,
                     int ranks, const MatmulOptions& options = {}) {
  return cheapest_result(on_heap(a, shape_a, ranks), on_heap(b, shape_b, ranks), Topology::regular(ranks),
                         options, Machine::find("laptop"))
      .distribution()
      .to_string();
}

TEST(MatmulResult, IsWhatTheMethodLeaves) {
  EXPECT_EQ(cheapest(Slab(0), Slab(0), {1000, 900}, {900, 800}, 4), "slab:0");
  EXPECT_EQ(cheapest(Slab(1), Slab(1), {1000, 900}, {900, 800}, 4), "slab:1");
  EXPECT_EQ(cheapest(Slab(0), Replicated(), {1000, 900}, {900, 800}, 4), "slab:0");
  EXPECT_EQ(cheapest(Replicated(), Slab(1), {1000, 900}, {900, 800}, 3), "slab:1");
  EXPECT_EQ(cheapest(Slab(1), Slab(0), {512, 65536}, {65536, 512}, 2), "slab:0");
  EXPECT_EQ(
      cheapest(BlockCyclic({2, 2}, {64, 32}), BlockCyclic({2, 2}, {32, 16}), {2048, 2048}, {2048, 2048}, 4),
      "block-cyclic:2x2:64x16");
}

TEST(MatmulResult, FollowsTheOptions) {
  MatmulOptions options{.epilogue = Epilogue::all_reduce};
  EXPECT_EQ(cheapest(Slab(1), Slab(0), {30, 20}, {20, 10}, 3, options), "replicated");
  options.epilogue = Epilogue::none;
  options.distribution = Slab(1);
  EXPECT_EQ(cheapest(Slab(0), Slab(0), {30, 20}, {20, 10}, 3, options), "slab:1");
  options.distribution.reset();
  options.op_a = Op::transpose;
  EXPECT_EQ(cheapest(Slab(1), Replicated(), {20, 30}, {20, 10}, 3, options), "slab:0");
}

TEST(MatmulResult, AnyProblemHasOne) {
  testing::RandomLayouts random(8);
  for (int i = 0; i < 100; ++i) {
    const int ranks = random.number(1, 8);
    const std::int64_t m = random.number(0, 30), n = random.number(0, 30), k = random.number(0, 30);
    const Operand a = Operand::of(random.layout({m, k}, ranks), Dtype::f32);
    const Operand b = Operand::of(random.layout({k, n}, ranks), Dtype::f32);
    const Layout d = cheapest_result(a, b, Topology::regular(ranks, random.number(0, 3)));
    EXPECT_EQ(d.shape(), Shape({m, n}));
    EXPECT_FALSE(d.partial());
  }
}

// What is sufficient for the result is sufficient for the plan of it, on every rank.
TEST(MatmulResult, AMemoryLimitIsRefusedWithWhatWouldDo) {
  testing::RandomLayouts random(9);
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    const int ranks = i % 50 == 0 ? 72 : random.number(2, 8);
    const std::int64_t m = random.number(1, 30), n = random.number(1, 30), k = random.number(1, 30);
    const Operand a = Operand::of(random.layout({m, k}, ranks), Dtype::f32);
    const Operand b = Operand::of(random.layout({k, n}, ranks), Dtype::f32);
    const Topology topology = Topology::regular(ranks, random.number(0, 3));
    MatmulOptions options{.memory_limit = random.number(1, 500)};
    SCOPED_TRACE(a.to_string() + " by " + b.to_string());
    try {
      (void)cheapest_result(a, b, topology, options);
      continue;
    } catch (const ArgumentError& error) {
      const std::string text = error.what();
      const std::string before = "; at least ";
      const std::size_t place = text.find(before);
      ASSERT_NE(place, std::string::npos) << text;
      options.memory_limit = std::stoll(text.substr(place + before.size()));
    }
    ++refused;
    const Operand d = Operand::of(cheapest_result(a, b, topology, options), Dtype::f32);
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_NO_THROW(plan_matmul({a, b, {}, d}, topology, rank, options));
    }
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace partita
