// Plans of multiplies between devices of several nodes, whose messages go in groups.
#include "execute/message_use.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"
#include "support/models/matmul_numbers.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using namespace testing::matmul_numbers;
using multiplication::Groups;
using testing::lay_on_devices;
using testing::MatmulCase;
using testing::RandomLayouts;

bool is_of_groups(const Step& step) {
  return step.kind == StepKind::send || step.kind == StepKind::receive;
}

/// As an executor of groups wants it, which knows no signals and no peer's memory.
void expect_groups(const Plan& plan) {
  EXPECT_TRUE(plan.grouped);
  EXPECT_TRUE(execution::find_message_use(plan, planning::touched_by_steps(plan)).apart);
  EXPECT_TRUE(planning::parts_read_from_peers(plan).empty());
  for (const Step& step : plan.steps) {
    EXPECT_NE(step.kind, StepKind::signal);
    EXPECT_NE(step.kind, StepKind::wait);
    if (!is_of_groups(step)) continue;
    EXPECT_GE(step.round, 0);
    EXPECT_TRUE(planning::is_private(plan, step.kind == StepKind::send ? step.from : step.to));
  }
}

TEST(MatmulGroups, MultiplyWhateverTheDistributionsAndTheNodesAre) {
  int messages = 0, grouped = 0;
  std::set<std::string> methods;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    MatmulCase test = RandomMatmul(80000 + seed).make(2, 8);
    lay_on_devices(test);
    RandomLayouts random(seed);
    test.groups = Groups{random.number(1, 300), random.number(1, 100), random.number(1, 4)};
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    run(test, seed);
    if (HasFatalFailure()) return;
    if (test.topology.node_count() == 1) continue;
    for (int rank = 0; rank < test.topology.ranks(); ++rank) {
      const Plan plan = test.plan(rank);
      expect_groups(plan);
      messages += static_cast<int>(std::ranges::count_if(plan.steps, is_of_groups));
      methods.insert(plan.method);
      ++grouped;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(grouped, 3000);
  EXPECT_GT(messages, 20000);
  EXPECT_GT(methods.size(), 5U);
}

/// bf16 on four devices, a node each.
MatmulCase square_on_nodes(std::int64_t extent, const Distribution& of_a, const Distribution& of_b,
                           const Distribution& of_d) {
  MatmulCase test = testing::square(extent, of_a, Topology::regular(4, 1));
  const auto lay = [&](Operand& operand, const Distribution& how) {
    operand.layout = Layout(how, {extent, extent}, 4);
    operand.dtype = Dtype::bf16;
  };
  lay(test.operands.a, of_a);
  lay(test.operands.b, of_b);
  lay(test.operands.d, of_d);
  lay_on_devices(test);
  test.groups.emplace();
  return test;
}

/// The number of rounds that must be over before step i may begin, counted from the first one of the plan.
std::vector<std::size_t> rounds_before_products(const Plan& plan) {
  std::map<std::int64_t, std::size_t> number;
  for (const Step& step : plan.steps) {
    if (is_of_groups(step)) number.emplace(step.round, 0);
  }
  std::size_t next = 0;
  for (auto& [round, place] : number) place = ++next;
  std::vector<std::size_t> result;
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::compute) continue;
    std::size_t most = 0;
    for (const int message : step.after)
      most = std::max(most, number[plan.steps[static_cast<std::size_t>(message)].round]);
    result.push_back(most);
  }
  return result;
}

// The own shard needs nothing, and each round brings another one: the next is in flight meanwhile.
TEST(MatmulGroups, EachShardIsMultipliedWhileTheNextOneTravels) {
  const MatmulCase test = square_on_nodes(8192, Slab(0), Slab(1), Slab(1));
  for (int rank = 0; rank < 4; ++rank) {
    const Plan plan = test.plan(rank);
    EXPECT_EQ(plan.method, "all-gather");
    EXPECT_TRUE(contains(plan.reason, "messages in rounds")) << plan.reason;
    EXPECT_EQ(rounds_before_products(plan), (std::vector<std::size_t>{0, 1, 2, 3}));
    // Packed once for all three.
    EXPECT_EQ(std::ranges::count(plan.steps, StepKind::copy, &Step::kind), 1);
    EXPECT_EQ(std::ranges::count(plan.steps, StepKind::send, &Step::kind), 3);
  }
}

// A product for another rank leaves while the next one is made, the own one is made last.
TEST(MatmulGroups, EachProductLeavesWhileTheNextOneIsMade) {
  MatmulCase test = square_on_nodes(8192, Slab(1), Slab(0), Slab(0));
  test.options.method = MatmulMethod::reduce_scatter;
  const Plan plan = test.plan(1);
  std::string order;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::send) order += std::to_string(step.peer);
    if (step.kind == StepKind::receive) order += static_cast<char>('a' + step.peer);
    if (step.kind == StepKind::compute && std::holds_alternative<Multiply>(planning::work_of(plan, step)))
      order += '*';
  }
  EXPECT_EQ(order, "*a2*d3*c0*");
}

TEST(MatmulGroups, LittleGoesInOneGroup) {
  const MatmulCase test = square_on_nodes(512, Slab(0), Slab(1), Slab(1));
  std::set<std::int64_t> rounds;
  const Plan plan = test.plan(2);
  for (const Step& step : plan.steps) {
    if (is_of_groups(step)) rounds.insert(step.round);
  }
  EXPECT_EQ(rounds.size(), 1U);
}

TEST(MatmulGroups, AreForDevicesOfSeveralNodesWithoutAMemoryLimit) {
  const auto is_grouped = [](const std::function<void(MatmulCase&)>& change) {
    MatmulCase test = square_on_nodes(64, Slab(0), Slab(1), Slab(1));
    change(test);
    return test.plan(0).grouped;
  };
  EXPECT_TRUE(is_grouped([](MatmulCase&) {}));
  EXPECT_TRUE(is_grouped([](MatmulCase& test) { test.topology = Topology::regular(4, 2); }));
  EXPECT_FALSE(is_grouped([](MatmulCase& test) { test.topology = Topology::regular(4); }));
  EXPECT_FALSE(is_grouped([](MatmulCase& test) { test.groups.reset(); }));
  EXPECT_FALSE(is_grouped([](MatmulCase& test) { test.options.memory_limit = 1 << 20; }));
  EXPECT_FALSE(is_grouped([](MatmulCase& test) {
    for (Operand* const one : {&test.operands.a, &test.operands.b, &test.operands.d})
      one->space = MemorySpace::host;
  }));
}

// A round that something waits for too early is found.
TEST(MatmulGroups, AProductThatDoesNotWaitIsFound) {
  MatmulCase test = square_on_nodes(12, Slab(0), Slab(1), Slab(1));
  test.groups = Groups{1000, 1, 4};
  const auto verdict = [&](bool hasty) {
    return verdict_of(
        test,
        [&](int rank) {
          Plan plan = test.plan(rank);
          for (Step& step : plan.steps) {
            if (hasty && step.kind == StepKind::compute) step.after.clear();
          }
          return plan;
        },
        1, 8);
  };
  EXPECT_TRUE(verdict(false).ok());
  EXPECT_FALSE(verdict(true).ok());
}

}  // namespace
}  // namespace partita
