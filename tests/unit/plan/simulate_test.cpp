#include "support/models/hand_made_plans.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using namespace hand_made;

constexpr std::int64_t side = 1000;  // 8e6 bytes

// Round figures, and latencies that can be distinguished in the sum.
Machine round_figures() {
  Machine machine;
  machine.name = "round";
  machine.copy_bandwidth = 1e9;
  machine.node_copy_bandwidth = 1.5e9;
  machine.strided_bandwidth = 2.5e8;
  machine.peer_bandwidth = 5e8;
  machine.network_bandwidth = 1e8;
  machine.copy_latency = 1e-3;
  machine.signal_latency = 1e-4;
  machine.network_latency = 1e-2;
  return machine;
}

Region rows(std::int64_t first, std::int64_t last) {
  return {{IndexSet::range(first, last), IndexSet::range(0, side)}};
}

const Problem alone({side, side}, "replicated", "replicated", 1);
const Problem pair({side, side}, "replicated", "replicated", 2);

TEST(Price, OfACopyIsLatencyAndBytesOverBandwidth) {
  Plan plan = alone.plans()[0];
  plan.steps = {copy(rows(0, side), source(0), destination(0))};
  EXPECT_DOUBLE_EQ(price(plan, round_figures()), 1e-3 + 8e6 / 1e9);
  plan.steps[0].kind = StepKind::accumulate;
  EXPECT_DOUBLE_EQ(price(plan, round_figures()), 1e-3 + 1.5 * 8e6 / 1e9);
  plan.steps[0].kind = StepKind::fill;
  EXPECT_DOUBLE_EQ(price(plan, round_figures()), 1e-3 + 0.5 * 8e6 / 1e9);
}

TEST(Price, OfATranspositionAndOfShortRunsIsStrided) {
  Plan plan = alone.plans()[0];
  plan.buffers[1].operand = Operand::of(alone.to, Dtype::f64, Order::column_major);
  plan.steps = {copy(rows(0, side), source(0), destination(0))};
  EXPECT_DOUBLE_EQ(price(plan, round_figures()), 1e-3 + 8e6 / 2.5e8);
  plan = alone.plans()[0];
  plan.steps = {copy({{IndexSet::range(0, side), IndexSet::range(0, 4)}}, source(0), destination(0))};
  EXPECT_DOUBLE_EQ(price(plan, round_figures()), 1e-3 + 8.0 * 4 * side / 2.5e8);
}

TEST(Price, SharesTheNodesBandwidthAndSlowsAtThePeer) {
  Plan plan = pair.plans()[0];
  plan.steps = {copy(rows(0, side), source(0), destination(0))};
  EXPECT_DOUBLE_EQ(price(plan, round_figures()), 1e-3 + 8e6 / 0.75e9);
  plan.steps[0].from.rank = 1;
  EXPECT_DOUBLE_EQ(price(plan, round_figures()), 1e-3 + 8e6 / 5e8);
}

TEST(Price, OverlapsMessagesWithCopies) {
  const Problem nodes({side, side}, "replicated", "replicated", 2, 1);
  Plan plan = nodes.plans({{"room", BufferKind::scratch, {}, 8'000'000}})[0];
  plan.steps = {receive(1, staging(0), 4'000'000), copy(rows(0, side), source(0), destination(0)),
                finish({0})};
  EXPECT_DOUBLE_EQ(price(plan, round_figures()), 4e6 / 1e8 + 1e-2);
  plan.steps[0].bytes = 8;
  EXPECT_DOUBLE_EQ(price(plan, round_figures()), 8 / 1e8 + 1e-2);
  plan.steps[2].after = {};
  EXPECT_DOUBLE_EQ(price(plan, round_figures()), 1e-3 + 8e6 / 1e9);
}

TEST(Simulate, LetsCopiesShareTheNodeWhileTheyOverlap) {
  std::vector<Plan> plans = pair.plans();
  plans[0].steps = {copy(rows(0, side), source(0), destination(0))};
  plans[1].steps = {copy(rows(0, side / 2), source(1), destination(1))};
  // Both at 0.75e9 until rank 1 has its 4e6 bytes, then rank 0 alone at 1e9.
  const Prediction prediction = simulate(planner(plans), 2, round_figures());
  EXPECT_NEAR(prediction.seconds, 1e-3 + 4e6 / 0.75e9 + 4e6 / 1e9, 1e-12);
  EXPECT_EQ(prediction.slowest_rank, 0);
  EXPECT_EQ(prediction.ranks_priced, 2);
  EXPECT_EQ(prediction.total_bytes, 0);
  EXPECT_EQ(prediction.per_rank.local_bytes, 8'000'000);
}

TEST(Simulate, LetsAWaitLastUntilItsSignal) {
  std::vector<Plan> plans = pair.plans();
  plans[0].steps = {copy(rows(0, side), source(0), destination(0)), signal(1)};
  plans[1].steps = {wait(0), copy(rows(0, side), source(0), destination(1))};
  const Prediction prediction = simulate(planner(plans), 2, round_figures());
  EXPECT_NEAR(prediction.seconds, 1e-3 + 8e6 / 1e9 + 1e-4 + 1e-3 + 8e6 / 5e8, 1e-12);
  EXPECT_EQ(prediction.slowest_rank, 1);
  EXPECT_EQ(prediction.total_bytes, 8'000'000);
}

TEST(Simulate, LetsMessagesQueueForTheLinkOfTheirNode) {
  const Problem nodes({side, side}, "replicated", "replicated", 4, 2);
  std::vector<Plan> plans = nodes.plans({{"room", BufferKind::scratch, {}, 8'000'000}});
  for (int rank = 0; rank < 2; ++rank) {
    plans[static_cast<std::size_t>(rank)].steps = {send(rank + 2, staging(rank), 1'000'000), finish({0})};
    plans[static_cast<std::size_t>(rank) + 2].steps = {receive(rank, staging(rank + 2), 1'000'000),
                                                       finish({0})};
  }
  const Prediction prediction = simulate(planner(plans), 4, round_figures());
  EXPECT_NEAR(prediction.seconds, 2 * 1e6 / 1e8 + 1e-2, 1e-12);
  EXPECT_EQ(prediction.total_bytes, 2'000'000);
  EXPECT_EQ(prediction.total_messages, 2);
}

TEST(Simulate, RunsWholeHandMadePlans) {
  const Problem problem({7, 5}, "slab:0", "slab:1", 3);
  const Prediction prediction = simulate(planner(direct(problem)), 3, Machine::find("laptop"));
  EXPECT_GT(prediction.seconds, 0);
  EXPECT_LT(prediction.seconds, 1e-3);
  std::int64_t stays = 0;
  for (int rank = 0; rank < 3; ++rank) stays += problem.piece(rank, rank).size();
  EXPECT_EQ(prediction.total_bytes, 8 * (7 * 5 - stays));
  const Problem nodes({5, 3}, "slab:0", "slab:1", 2, 1);
  EXPECT_GT(simulate(planner(messages(nodes)), 2, Machine::find("cluster")).seconds, 2e-6);
}

TEST(Simulate, PricesASampleOfManyRanks) {
  const Problem many({side, 64}, "replicated", "replicated", 4096, 64);
  int asked = 0;
  const Planner reading = [&](int rank) {
    ++asked;
    Plan plan{"redistribute", "direct", "", rank, many.topology, {}, {}};
    for (const auto* name : {"source", "destination"}) {
      plan.buffers.push_back({name, BufferKind::operand, Operand::of(many.from, Dtype::f64), 0});
    }
    const std::int64_t share = rank == 4095 ? side : side / 2;
    const Region region{{IndexSet::range(0, share), IndexSet::range(0, 64)}};
    plan.steps = {copy(region, source(rank ^ 1), destination(rank))};
    return plan;
  };
  const Prediction prediction = simulate(reading, 4096, Machine::find("cluster"));
  EXPECT_LE(asked, 65);
  EXPECT_EQ(prediction.ranks_priced, 64);
  EXPECT_EQ(prediction.slowest_rank, 4095);
  EXPECT_EQ(prediction.total_bytes, 4097 * (side / 2) * 64 * 8);
}

TEST(Simulate, RefusesBadArguments) {
  const std::vector<Plan> plans = pair.plans();
  EXPECT_THROW((void)simulate({}, 2, {}), ArgumentError);
  EXPECT_THROW((void)simulate(planner(plans), 0, {}), ArgumentError);
  EXPECT_THROW((void)simulate(planner(plans), 3, {}), ArgumentError);
}

TEST(Simulate, RefusesPlansThatNeverEnd) {
  std::vector<Plan> plans = pair.plans();
  plans[0].steps = {wait(1)};
  EXPECT_THROW((void)simulate(planner(plans), 2, round_figures()), ArgumentError);
}

}  // namespace
}  // namespace partita
