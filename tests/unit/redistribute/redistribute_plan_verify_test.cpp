// The plans of all ranks, run on symbols by the verifier.
#include "support/models/random_layouts.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using testing::RandomLayouts;

void expect_verified(const Operand& source, const Operand& destination, const Topology& topology,
                     const RedistributeOptions& options) {
  const Planner planner = [&](int rank) {
    return plan_redistribute(source, destination, topology, rank, options);
  };
  const Verdict verdict = verify(planner);
  for (const std::string& fault : verdict.faults) {
    ADD_FAILURE() << source.to_string() << " -> " << destination.to_string() << ", " << planner(0).method
                  << ", staging " << options.staging_bytes << ": " << fault;
  }
}

Operand random_f32_operand(RandomLayouts& random, const Shape& shape, int ranks) {
  const Dtype dtype = Dtype::f32;
  return Operand::of(random.layout(shape, ranks), dtype,
                     random.maybe() ? Order::row_major : Order::column_major,
                     random.maybe() ? Residency::heap : Residency::ordinary);
}

void verify_random_plans(RandomLayouts& random, int most_ranks, int most_extent) {
  const int ranks = random.number(1, most_ranks);
  const int dimensions = random.number(1, 3);
  const Shape shape = random.shape(dimensions, dimensions == 1 ? most_extent * most_extent : most_extent);
  RedistributeOptions options;
  Shape permuted = shape;
  if (random.maybe()) {
    options.axes = random.permutation(dimensions);
    for (int i = 0; i < dimensions; ++i) permuted[i] = shape[options.axes[static_cast<std::size_t>(i)]];
  }
  const Operand source = random_f32_operand(random, shape, ranks);
  const Operand destination = random_f32_operand(random, permuted, ranks);
  if (random.maybe(0.3)) options.method = RedistributeMethod::staged;
  if (random.maybe(0.3)) options.method = RedistributeMethod::messages;
  if (random.maybe(0.3)) options.method = RedistributeMethod::grouped;
  if (random.maybe()) options.staging_bytes = 1024 * ranks + random.number(0, 4096);
  const int per_node[] = {0, 1, 2, 3, 7};
  Topology topology = Topology::regular(ranks, per_node[random.number(0, 4)]);
  if (random.maybe()) {
    topology = topology.with_cross_memory();
    const bool may_pull = source.residency == Residency::ordinary && !source.layout.partial();
    if (may_pull && random.maybe()) options.method = RedistributeMethod::pulled;
  }
  expect_verified(source, destination, topology, options);
}

TEST(RedistributePlanVerify, AnyPairOfDistributions) {
  RandomLayouts random(77);
  for (int i = 0; i < 300 && !HasFailure(); ++i) verify_random_plans(random, 8, 11);
}

TEST(RedistributePlanVerify, ManyRanks) {
  RandomLayouts random(78);
  for (int i = 0; i < 25 && !HasFailure(); ++i) verify_random_plans(random, 100, 17);
}

// What the planner would never write.
TEST(RedistributePlanVerify, OrdinaryMemoryIsReadOnlyWhereTheKernelLets) {
  const Operand source = Operand::of(Layout(Slab(0), {8, 6}, 2), Dtype::f64);
  const Operand destination = Operand::of(Layout(Slab(1), {8, 6}, 2), Dtype::f64);
  const Planner planner = [&](int rank) {
    return plan_redistribute(source, destination, Topology::regular(2).with_cross_memory(), rank,
                             {.method = RedistributeMethod::pulled});
  };
  EXPECT_TRUE(verify(planner).ok());
  const auto faults = [&](const auto& change) {
    return verify([&](int rank) {
      Plan plan = planner(rank);
      change(plan);
      return plan;
    });
  };
  const Verdict apart = faults([](Plan& plan) { plan.topology = plan.topology.with_cross_memory(false); });
  ASSERT_FALSE(apart.ok());
  EXPECT_TRUE(contains(apart.faults.front(), "cannot be reached in place"));
  const Verdict strided = faults([](Plan& plan) { plan.buffers[0].operand->dense = false; });
  EXPECT_FALSE(strided.ok());
}

TEST(RedistributePlanVerify, HundredRanksByEveryMethod) {
  const Layout from(BlockCyclic({10, 10}, {3, 4}), {61, 83}, 100);
  const Layout to(BlockCyclic({4, 25}, {5, 2}), {61, 83}, 100);
  for (const RedistributeMethod method :
       {RedistributeMethod::direct, RedistributeMethod::pushed, RedistributeMethod::staged,
        RedistributeMethod::messages, RedistributeMethod::grouped}) {
    for (const int per_node : {0, 1, 16}) {
      expect_verified(Operand::of(from, Dtype::f64, Order::row_major, Residency::heap),
                      Operand::of(to, Dtype::f64, Order::column_major, Residency::heap),
                      Topology::regular(100, per_node), {.method = method});
    }
  }
}

}  // namespace
}  // namespace partita
