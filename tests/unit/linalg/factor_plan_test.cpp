// Plans of factorizations and of solves: what they compute, and how they are described.
#include <chrono>

#include "plan/moves.hpp"
#include "support/models/factor_case.hpp"

namespace partita::testing {
namespace {

TEST(FactorPlan, FactorizesInAnyDistribution) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const FactorCase test(seed);
    SCOPED_TRACE(test.to_string());
    test.expect_factors();
    if (HasFailure()) return;
  }
}

TEST(FactorPlan, SolvesInAnyDistributionByEveryOp) {
  for (std::uint64_t seed = 1000; seed < 1600; ++seed) {
    FactorCase test(seed);
    SCOPED_TRACE(test.to_string());
    test.expect_solutions();
    if (HasFailure()) return;
  }
}

Operand square_operand(std::int64_t n, const Distribution& how, int ranks, Dtype dtype = Dtype::f64) {
  return Operand::of(Layout(how, {n, n}, ranks), dtype, Order::column_major, Residency::heap);
}

TEST(FactorPlan, SaysWhichPanelsThereAreAndWhatIsRedistributed) {
  const Topology topology = Topology::regular(4, 2);
  const FactorOptions options{.block = 8};
  const Operand rows = square_operand(40, Slab(0), 4),
                suited = square_operand(40, BlockCyclic({1, 4}, {40, 8}), 4);
  const auto moved = [&](const Plan& plan) {
    const Traffic bytes = traffic(plan);
    return bytes.node_bytes + bytes.network_bytes;
  };
  for (const Factorization kind : {Factorization::cholesky, Factorization::lu, Factorization::qr}) {
    const Planner planner = [&](int rank) { return plan_factorization(kind, rows, topology, rank, options); };
    const std::string text = explain(planner(1), {}, planner);
    EXPECT_TRUE(contains(text, "5 panels of 8 columns, cyclically over 4 ranks")) << text;
    EXPECT_TRUE(contains(text, rows.layout.to_string())) << text;
    const Plan in_place = plan_factorization(kind, suited, topology, 1, {.block = 8, .overwrite = true});
    EXPECT_GT(moved(planner(1)), moved(in_place));
    EXPECT_EQ(planning::scratch_bytes(
                  plan_factorization(kind, square_operand(40, Slab(0), 1), Topology::regular(1), 0)),
              0);
  }
}

TEST(FactorPlan, PredictsATime) {
  const Topology topology = Topology::regular(4);
  const Operand a = square_operand(4096, Slab(0), 4);
  const auto seconds = [&](Factorization kind) {
    const Planner planner = [&](int rank) { return plan_factorization(kind, a, topology, rank); };
    return simulate(planner, 4, Machine{}).seconds;
  };
  EXPECT_GT(seconds(Factorization::lu), 1.3 * seconds(Factorization::cholesky));
  EXPECT_GT(seconds(Factorization::qr), 1.3 * seconds(Factorization::lu));
}

std::string panels_chosen(std::int64_t n, const Topology& topology, Factorization kind,
                          const FactorOptions& options = {}) {
  const Operand a = square_operand(n, Slab(0), topology.ranks());
  return plan_factorization(kind, a, topology, 0, options, Machine::find("cluster")).reason;
}

TEST(FactorPlan, OneDeviceComputesInPanelsForTheProductsInTf32) {
  Operand a = square_operand(4096, Slab(0), 1);
  a.dtype = Dtype::f32;
  a.space = MemorySpace::device;
  const auto reason = [&](ComputeType compute) {
    return plan_factorization(Factorization::lu, a, Topology::regular(1), 0, {.compute = compute}).reason;
  };
  EXPECT_TRUE(contains(reason(ComputeType::automatic), "1 panels of 4096 columns"));
  EXPECT_TRUE(contains(reason(ComputeType::tf32), "8 panels of 512 columns"));
}

TEST(FactorPlan, TakesAGridBetweenManyNodesOnly) {
  const auto chosen = [](const Topology& topology, Factorization kind = Factorization::cholesky) {
    return panels_chosen(20000, topology, kind);
  };
  EXPECT_TRUE(contains(chosen(Topology::regular(64)), "columns, cyclically over 64 ranks"));
  EXPECT_TRUE(contains(chosen(Topology::regular(64, 1)), "columns, on a grid of 8x8 ranks"));
  EXPECT_TRUE(contains(chosen(Topology::regular(32, 8)), "columns, on a grid of 4x8 ranks"));
  EXPECT_TRUE(contains(chosen(Topology::regular(7, 1)), "columns, cyclically over 7 ranks"));
  EXPECT_TRUE(contains(chosen(Topology::regular(64, 1), Factorization::qr), "cyclically over 64 ranks"));
  EXPECT_TRUE(contains(chosen(Topology::regular(64), Factorization::lu), "cyclically over 64 ranks"));
  EXPECT_TRUE(contains(chosen(Topology::regular(64, 1), Factorization::lu), "columns, on a grid of "));
  const Topology topology = Topology::regular(6, 2);
  const auto named = [&](const FactorOptions& options) {
    return panels_chosen(30, topology, Factorization::cholesky, options);
  };
  EXPECT_EQ(named({.block = 8, .grid = {3, 2}}), "4 panels of 8 columns, on a grid of 3x2 ranks");
  EXPECT_EQ(named({.block = 8, .grid = {1, 6}}), "4 panels of 8 columns, cyclically over 6 ranks");
  EXPECT_ERROR(ArgumentError, named({.grid = {2, 2}}), "2x2", "6 ranks");
  EXPECT_ERROR(ArgumentError, named({.grid = {6}}), "6 ranks");
  EXPECT_ERROR(UnsupportedError, panels_chosen(30, topology, Factorization::qr, {.grid = {2, 3}}), "{1, 6}");
}

TEST(FactorPlan, PivotingAndMemorySayWhetherLuHasAGrid) {
  const Topology topology = Topology::regular(6);
  Operand a = square_operand(20000, Slab(0), 6);
  const auto plan = [&](const FactorOptions& options) {
    return plan_factorization(Factorization::lu, a, topology, 0, options).reason;
  };
  EXPECT_TRUE(contains(plan({}), "cyclically over 6 ranks"));
  EXPECT_TRUE(contains(plan({.grid = {2, 3}}), "on a grid of 2x3 ranks"));
  EXPECT_TRUE(contains(plan({.grid = {1, 6}, .pivoting = Pivoting::tournament}), "cyclically over 6 ranks"));
  EXPECT_ERROR(UnsupportedError, plan({.grid = {2, 3}, .pivoting = Pivoting::partial}), "partial", "{1, 6}",
               "tournament");
  a.space = MemorySpace::device;
  EXPECT_TRUE(contains(plan({.pivoting = Pivoting::tournament}), "cyclically over 6 ranks"));
  EXPECT_ERROR(UnsupportedError, plan({.grid = {2, 3}}), "device memory", "{1, 6}");
}

/// What ranks of a grid of 64 x 64 receive on average, compared with a best grid's: n^2/2 elements of L and
/// as many of U, or L^H, over sqrt(P), without its own. Seconds: of the plan of one rank.
void expect_received_on_thousands_of_ranks(Factorization kind, double most, std::size_t most_steps) {
  const std::int64_t n = 1'000'000;
  const Topology topology = Topology::regular(4096, 64);
  const Operand a = square_operand(n, BlockCyclic({64, 64}, {512, 512}), 4096);
  const std::vector<int> sample{0, 63, 64, 1000, 2111, 4032, 4095};
  double bytes = 0, seconds = 0;
  for (const int rank : sample) {
    const auto begin = std::chrono::steady_clock::now();
    const Plan plan = plan_factorization(kind, a, topology, rank, {.overwrite = true});
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    seconds = std::max(seconds, passed.count());
    EXPECT_TRUE(contains(plan.reason, "1954 panels of 512 columns, on a grid of 64x64 ranks"));
    EXPECT_LT(plan.steps.size(), most_steps * 1954U);
    const Traffic moved = traffic(plan);
    bytes += static_cast<double>(moved.node_bytes + moved.network_bytes) / static_cast<double>(sample.size());
  }
  const auto square = static_cast<double>(n) * static_cast<double>(n);
  const double received = bytes / (8 * (square / 64 - square / 4096));
  EXPECT_LE(received, most);
  fmt::print("{:.3f} of the bytes of a best grid, one rank planned in at most {:.3f} s\n", received, seconds);
}

TEST(FactorPlan, CholeskyReceivesAsMuchAsABestGridOnThousandsOfRanks) {
  expect_received_on_thousands_of_ranks(Factorization::cholesky, 1.05, 30);
}

TEST(FactorPlan, LuReceivesLittleMoreThanABestGridOnThousandsOfRanks) {
  expect_received_on_thousands_of_ranks(Factorization::lu, 1.2, 40);
}

TEST(FactorPlan, SolvesOnAGridWithoutMovingTheMatrix) {
  const std::int64_t n = 100'000, count = 3;
  const Topology topology = Topology::regular(256, 1);
  const Operand a = square_operand(n, Slab(0), 256);
  Operand b = Operand::of(Layout(Slab(0), {n, count}, 256), Dtype::f64);
  for (const int rank : {0, 17, 100}) {
    const Plan plan = plan_solve(Factorization::cholesky, a, b, b, topology, rank, Op::none,
                                 {.block = 256, .grid = {16, 16}});
    EXPECT_TRUE(contains(plan.reason, "16x16"));
    // Sums and solutions of a sixteenth of the rows each, forward and backward; and what is redistributed.
    EXPECT_LE(traffic(plan).network_bytes, (4 * n / 16 + 2 * n / 16) * count * 8 * 11 / 10);
  }
}

TEST(FactorPlan, DevicesOfANodePassWhatTakesLessTime) {
  const auto method = [](Factorization kind, std::int64_t n, MemorySpace space, int ranks = 2,
                         std::int64_t count = 1) {
    Operand a = square_operand(n, Slab(0), ranks);
    Operand b = Operand::of(Layout(Slab(0), {n, count}, ranks), Dtype::f64);
    a.space = b.space = space;
    return plan_solve(kind, a, b, b, Topology::regular(ranks), 0, Op::none, {}, false,
                      Machine::find("node-4-h200"))
        .method;
  };
  const std::string panels_move = "right-hand sides", sides_move = "panels", sums_move = "sums";
  for (const Factorization kind : {Factorization::cholesky, Factorization::lu}) {
    EXPECT_EQ(method(kind, 4096, MemorySpace::device), sums_move);
    EXPECT_EQ(method(kind, 65536, MemorySpace::device, 2, 16), sums_move);
    EXPECT_EQ(method(kind, 65536, MemorySpace::device, 2, 100), panels_move);
    EXPECT_EQ(method(kind, 65536, MemorySpace::device, 1), panels_move);
    EXPECT_EQ(method(kind, 65536, MemorySpace::host), panels_move);
  }
  EXPECT_EQ(method(Factorization::qr, 4096, MemorySpace::device), panels_move);
  EXPECT_EQ(method(Factorization::qr, 65536, MemorySpace::device), sides_move);
}

TEST(FactorPlan, RefusesWhatIsNoMatrix) {
  const Topology topology = Topology::regular(2);
  const auto plan = [&](Factorization kind, const Shape& shape, Dtype dtype, std::int64_t block = 0) {
    return plan_factorization(kind, Operand::of(Layout(Slab(0), shape, 2), dtype), topology, 0,
                              {.block = block});
  };
  EXPECT_ERROR(ArgumentError, plan(Factorization::cholesky, {4, 5}, Dtype::f64), "square", "4x5");
  EXPECT_ERROR(ArgumentError, plan(Factorization::lu, {4}, Dtype::f64), "matrix");
  EXPECT_ERROR(ArgumentError, plan(Factorization::lu, {2, 4, 4}, Dtype::f64), "matrix");
  EXPECT_ERROR(ArgumentError, plan(Factorization::lu, {4, 4}, Dtype::i32), "i32", "astype");
  EXPECT_ERROR(ArgumentError, plan(Factorization::qr, {4, 4}, Dtype::f16), "f16", "astype");
  EXPECT_ERROR(ArgumentError, plan(Factorization::qr, {4, 4}, Dtype::f64, -1), "-1");
}

TEST(FactorPlan, RefusesRightHandSidesThatDoNotSuit) {
  const Topology topology = Topology::regular(2);
  const auto operand = [](const Shape& shape, Dtype dtype = Dtype::f64) {
    return Operand::of(Layout(Slab(0), shape, 2), dtype);
  };
  const auto plan = [&](Factorization kind, const Operand& a, const Operand& b, const Operand& x,
                        Op op = Op::none) { return plan_solve(kind, a, b, x, topology, 0, op); };
  const Operand square = operand({6, 6}), tall = operand({6, 4});
  EXPECT_NO_THROW((void)plan(Factorization::qr, tall, operand({6, 3}), operand({4, 3})));
  EXPECT_ERROR(ArgumentError, plan(Factorization::lu, square, operand({5, 3}), operand({6, 3})));
  EXPECT_ERROR(ArgumentError, plan(Factorization::lu, square, operand({6, 3}), operand({6, 2})));
  EXPECT_ERROR(ArgumentError, plan(Factorization::lu, square, operand({6, 3}, Dtype::f32), operand({6, 3})));
  EXPECT_ERROR(ArgumentError, plan(Factorization::lu, tall, operand({6, 3}), operand({4, 3})), "6x4");
  EXPECT_ERROR(ArgumentError, plan(Factorization::qr, operand({4, 6}), operand({4, 3}), operand({6, 3})));
  const auto complex = [&](const Shape& shape) { return operand(shape, Dtype::c128); };
  EXPECT_ERROR(UnsupportedError,
               plan(Factorization::qr, complex({6, 4}), complex({4, 3}), complex({6, 3}), Op::transpose),
               "conjugate-transpose");
}

}  // namespace
}  // namespace partita::testing
