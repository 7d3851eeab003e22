// Estimates from the plans of a sample of ranks, compared with the plans of all ranks.
#include "plan/sample.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "support/test.hpp"

namespace partita {
namespace {

using planning::RankSample;
using planning::sample_ranks;

RankSample sample_of(int ranks, int most) {
  return sample_ranks(Topology::regular(ranks), std::vector<Layout>{}, most);
}

Plan plan_of_steps(int ranks, std::size_t steps) {
  Plan plan;
  plan.topology = Topology::regular(ranks);
  plan.steps.resize(steps);
  return plan;
}

TEST(Samples, AreAllRanksIfTheyAreFew) {
  const RankSample sample = sample_of(3, 5);
  EXPECT_EQ(sample.ranks, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(sample.weights, (std::vector<double>{1, 1, 1}));
}

TEST(Samples, RepresentEveryRankOnce) {
  for (const int ranks : {2, 9, 100, 4096, 9973}) {
    for (const int most : {1, 2, 3, 16, 256}) {
      SCOPED_TRACE(fmt::format("{} of {}", most, ranks));
      const RankSample sample = sample_of(ranks, most);
      EXPECT_EQ(sample.size(), static_cast<std::size_t>(std::min(ranks, most)));
      EXPECT_TRUE(std::is_sorted(sample.ranks.begin(), sample.ranks.end()));
      EXPECT_EQ(std::set<int>(sample.ranks.begin(), sample.ranks.end()).size(), sample.size());
      double represented = 0;
      for (const double weight : sample.weights) represented += weight;
      EXPECT_EQ(represented, ranks);
    }
  }
}

TEST(Samples, AreSmallerForLongPlans) {
  EXPECT_EQ(sample_ranks(plan_of_steps(2000, 0), 64).size(), 64U);
  EXPECT_EQ(sample_ranks(plan_of_steps(2000, 40'000), 64).size(), 25U);
  EXPECT_EQ(sample_ranks(plan_of_steps(2000, 400'000), 64).size(), 16U);
  EXPECT_EQ(sample_ranks(plan_of_steps(2000, 400'000), 3).size(), 3U);
}

TEST(Samples, HoldTheCornersOfGridsAndMeshes) {
  const auto holds = [](const char* rule, const Shape& shape, int ranks, const std::vector<int>& corners) {
    const std::vector<Layout> layouts{Layout(Distribution::parse(rule), shape, ranks)};
    const RankSample sample = sample_ranks(Topology::regular(ranks, 10), layouts, 24);
    const std::set<int> sampled(sample.ranks.begin(), sample.ranks.end());
    return std::includes(sampled.begin(), sampled.end(), corners.begin(), corners.end());
  };
  EXPECT_TRUE(holds("block-cyclic:6x9:2x2", {60, 60}, 60, {0, 8, 45, 53}));
  EXPECT_TRUE(holds("block-cyclic:6x9:2x2:column", {60, 60}, 60, {0, 5, 48, 53}));
  EXPECT_TRUE(holds("mesh:x=3,y=4,z=5:x,y", {60, 60}, 60, {0, 4, 15, 19, 40, 44, 55, 59}));
  EXPECT_TRUE(holds("slab:0", {60, 60}, 60, {0, 9, 50, 59}));  // of 6 nodes of 10 ranks
}

/// Bytes that a rank receives, and the predicted seconds of its plan.
struct Estimate {
  double mean_bytes = 0, most_bytes = 0, most_seconds = 0;
};

Estimate estimate(const Planner& planner, const RankSample& sample) {
  Estimate result;
  double ranks = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const Plan plan = planner(sample.ranks[i]);
    const Traffic moved = traffic(plan);
    const auto bytes = static_cast<double>(moved.node_bytes + moved.network_bytes);
    ranks += sample.weights[i];
    result.mean_bytes += sample.weights[i] * bytes;
    result.most_bytes = std::max(result.most_bytes, bytes);
    result.most_seconds = std::max(result.most_seconds, price(plan, Machine::find("cluster")));
  }
  result.mean_bytes /= ranks;
  return result;
}

/// 16 of 16 or 64 ranks and 32 of 256 give the mean within 10 %, and the largest at least by 85 % in bytes
/// and 75 % in seconds.
void expect_represented(const Planner& planner, int ranks) {
  const int most = std::max(16, static_cast<int>(2 * std::sqrt(ranks)));
  const RankSample sample = sample_ranks(planner(0), most);
  ASSERT_EQ(sample.size(), static_cast<std::size_t>(most));
  const Estimate all = estimate(planner, sample_of(ranks, ranks)), some = estimate(planner, sample);
  EXPECT_NEAR(some.mean_bytes, all.mean_bytes, 0.1 * all.mean_bytes);
  EXPECT_GE(some.most_bytes, 0.85 * all.most_bytes);
  EXPECT_GE(some.most_seconds, 0.75 * all.most_seconds);
}

class SquareGrids : public ::testing::TestWithParam<int> {
 protected:
  int side() const { return GetParam(); }
  int ranks() const { return side() * side(); }
  Topology topology() const { return Topology::regular(ranks(), side()); }

  Operand on_grid(const Shape& shape, int block, const char* order = "") const {
    return on_heap(fmt::format("block-cyclic:{0}x{0}:{1}x{1}{2}", side(), block, order), shape);
  }
  Operand on_heap(const std::string& rule, const Shape& shape, Dtype dtype = Dtype::f64) const {
    return Operand::of(Layout(Distribution::parse(rule), shape, ranks()), dtype, Order::row_major,
                       Residency::heap);
  }
  void expect_redistribution(const Operand& from, const Operand& to) const {
    expect_represented([&](int rank) { return plan_redistribute(from, to, topology(), rank); }, ranks());
  }
  void expect_factorization(Factorization kind) const {
    const Operand a = on_grid({8 * side() * 4 + 3, 8 * side() * 4 + 3}, 8);
    const auto planner = [&](int rank) {
      return plan_factorization(kind, a, topology(), rank, {.block = 8}, Machine::find("cluster"));
    };
    expect_represented(planner, ranks());
  }
};

TEST_P(SquareGrids, ARedistributionToTheTransposedGrid) {
  const Shape shape{64 * side() + 5, 64 * side() + 11};
  expect_redistribution(on_grid(shape, 4), on_grid(shape, 4, ":column"));
}

TEST_P(SquareGrids, ARedistributionToOtherBlocks) {
  const Shape shape{64 * side() + 5, 64 * side() + 11};
  expect_redistribution(on_grid(shape, 16), on_grid(shape, 24));
  expect_redistribution(on_heap("slab:0", shape), on_grid(shape, 16));
}

TEST_P(SquareGrids, AMultiply) {
  const Shape shape{40 * side() + 3, 40 * side() + 3};
  const Operand a = on_grid(shape, 16);
  const auto planner = [&](int rank) {
    return plan_matmul({a, a, {}, a}, topology(), rank, {}, Machine::find("cluster"));
  };
  expect_represented(planner, ranks());
}

TEST_P(SquareGrids, ATransform) {
  const Operand a = on_heap(fmt::format("mesh:x={0},y={0}:x,y,-", side()),
                            {3 * side() + 1, 3 * side() + 2, 40}, Dtype::c128);
  const auto planner = [&](int rank) {
    return plan_fft(a, a, topology(), rank, {}, Machine::find("cluster"));
  };
  expect_represented(planner, ranks());
}

TEST_P(SquareGrids, FactorizationsByCholeskyAndLu) {
  expect_factorization(Factorization::cholesky);
  expect_factorization(Factorization::lu);
}

INSTANTIATE_TEST_SUITE_P(Sampled, SquareGrids, ::testing::Values(4, 8, 16));

}  // namespace
}  // namespace partita
