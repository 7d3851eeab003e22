#include <gtest/gtest.h>

#include "plan/moves.hpp"
#include "support/models/hand_made_plans.hpp"

namespace partita {
namespace {

using namespace hand_made;

TEST(PlanHash, IsTheSameOnAllRanksAndStableAcrossProcesses) {
  const std::vector<Plan> plans = direct(on_a_node);
  EXPECT_EQ(plans[0].hash(), plans[1].hash());
  // A plan without operands hashes fixed text only: the number must not change from process to process.
  Plan plan;
  plan.operation = "redistribute";
  plan.method = "direct";
  plan.buffers = {{"staging", BufferKind::shared, {}, 4096}};
  EXPECT_EQ(plan.hash(), 0xeaa72167eeeec337ULL);
}

TEST(PlanHash, SeesOperationIdentityMethodBuffersAndTopology) {
  const Plan plan = messages(apart)[0];
  const auto differs = [&plan](auto&& change) {
    Plan other = plan;
    change(other);
    return other.hash() != plan.hash();
  };
  EXPECT_TRUE(differs([](Plan& other) { other.operation = "matmul"; }));
  EXPECT_TRUE(differs([](Plan& other) { other.identity = {{"reduction", "max"}}; }));
  EXPECT_TRUE(differs([](Plan& other) { other.method = "pushed"; }));
  EXPECT_TRUE(differs([](Plan& other) { other.buffers[0].operand->dtype = Dtype::f32; }));
  EXPECT_TRUE(differs([](Plan& other) { other.buffers[1].operand->residency = Residency::ordinary; }));
  EXPECT_TRUE(differs([](Plan& other) { other.buffers[2].kind = BufferKind::shared; }));
  EXPECT_TRUE(differs([](Plan& other) { other.buffers.pop_back(); }));
  EXPECT_TRUE(differs([](Plan& other) { other.topology = Topology::regular(2); }));
  EXPECT_TRUE(differs([](Plan& other) { std::swap(other.operation, other.method); }));
}

TEST(PlanHash, DoesNotSeeWhatRanksMayDifferIn) {
  const Plan plan = messages(apart)[0];
  Plan other = plan;
  other.rank = 1;
  other.reason = "no reason";
  other.steps.clear();
  other.buffers[2].bytes = 0;  // private scratch
  EXPECT_EQ(plan.hash(), other.hash());
}

TEST(Traffic, CountsWhatArrivesInPlace) {
  const Traffic rank0 = traffic(direct(on_a_node)[0]);
  EXPECT_EQ(rank0.local_bytes, 8 * 3 * 2);
  EXPECT_EQ(rank0.node_bytes, 8 * 2 * 2);
  EXPECT_EQ(rank0.network_bytes, 0);
  EXPECT_EQ(rank0.staging_bytes, 0);
  EXPECT_EQ(rank0.messages, 0);
  EXPECT_EQ(rank0.signals, 2);
}

TEST(Traffic, CountsMessagesAndStaging) {
  const Traffic rank0 = traffic(messages(apart)[0]);
  EXPECT_EQ(rank0.local_bytes, 8 * 3 * 2);
  EXPECT_EQ(rank0.node_bytes, 0);
  EXPECT_EQ(rank0.network_bytes, 8 * 2 * 2);
  EXPECT_EQ(rank0.staging_bytes, 8 * 3 * 1 + 8 * 2 * 2);  // packed and unpacked
  EXPECT_EQ(rank0.messages, 1);
}

TEST(Traffic, CountsWhatIsPushedToAPeer) {
  Plan plan = on_a_node.plans()[0];
  plan.steps = {copy(on_a_node.piece(0, 1), source(0), destination(1))};
  EXPECT_EQ(traffic(plan).node_bytes, 8 * 3 * 1);
  EXPECT_EQ(traffic(plan).local_bytes, 0);
}

TEST(Runs, AreWhatOneMemcpyMoves) {
  const auto run = [](const char* from, const char* to, Order order = Order::row_major) {
    const Problem problem({12, 10}, from, to, 2);
    Plan plan = problem.plans()[0];
    plan.buffers[1].operand = Operand::of(problem.to, Dtype::f64, order);
    plan.steps = {copy(problem.piece(0, 0), source(0), destination(0))};
    return planning::run_bytes(plan, plan.steps[0]);
  };
  EXPECT_EQ(run("slab:0", "slab:1"), 8 * 5);
  EXPECT_EQ(run("slab:0", "replicated"), 8 * 60);                 // whole rows, next to each other
  EXPECT_EQ(run("slab:1", "slab:1"), 8 * 60);                     // the local parts are the same
  EXPECT_EQ(run("slab:1", "block-cyclic:1x2:1x2"), 8 * 3 / 2.0);  // columns 0, 1 and 4
  EXPECT_EQ(run("slab:0", "slab:0", Order::column_major), 8);
}

}  // namespace
}  // namespace partita
