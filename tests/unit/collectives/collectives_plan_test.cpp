// The plans of collectives, of all ranks, on symbols; and what travels.
#include "collectives/layouts.hpp"
#include "collectives/plans.hpp"
#include "plan/channels.hpp"
#include "support/test.hpp"

namespace partita::collective {
namespace {

std::vector<Topology> topologies() {
  std::vector<Topology> result;
  for (const int ranks : {1, 2, 3, 5}) {
    for (const int per_node : {0, 1, 2, 3}) result.push_back(Topology::regular(ranks, per_node));
  }
  result.push_back(Topology::of({0, 1, 0, 2, 1}));
  return result;
}

/// As the calls make them: ordinary memory with strides, or dense on the heap.
Operand operand_of(const Layout& layout, bool on_heap) {
  Operand operand =
      Operand::of(layout, Dtype::f32, Order::row_major, on_heap ? Residency::heap : Residency::ordinary);
  operand.dense = on_heap;
  return operand;
}

using PlanOf = std::function<Plan(const Request&)>;

void expect_right(const Layout& source, const Layout& destination, const Topology& topology,
                  const PlanOf& plan) {
  for (const bool source_on_heap : {false, true}) {
    for (const bool destination_on_heap : {false, true}) {
      const std::vector<Operand> operands{operand_of(source, source_on_heap),
                                          operand_of(destination, destination_on_heap)};
      const Planner planner = [&](int rank) { return plan({"collective", operands, topology, rank}); };
      const Verdict verdict = verify(planner);
      ASSERT_TRUE(verdict.ok()) << verdict.faults.front() << "\n"
                                << source.to_string() << " to " << destination.to_string() << " "
                                << planner(0).method;
      for (int rank = 0; rank < topology.ranks(); ++rank) ASSERT_EQ(planner(rank).hash(), planner(0).hash());
    }
  }
}

/// Below and beyond what is read whole; odd ones, scalars, nothing.
std::vector<Shape> shapes(int ranks) {
  if (ranks > 3) return {{0}, {7}, {3, 5}};
  return {{}, {0}, {7}, {3, 5}, {8201}, {3, 2741}};
}

TEST(CollectivePlans, Broadcast) {
  for (const Topology& topology : topologies()) {
    const int ranks = topology.ranks();
    if (ranks == 1) continue;
    for (const Shape& shape : shapes(ranks)) {
      for (const int root : {0, ranks - 1}) {
        expect_right(at_root(shape, root, ranks), beside_root(shape, root, ranks), topology,
                     [&](const Request& request) { return plan_broadcast(request, root); });
      }
    }
  }
}

TEST(CollectivePlans, Reduce) {
  for (const Topology& topology : topologies()) {
    const int ranks = topology.ranks();
    for (const Shape& shape : shapes(ranks)) {
      expect_right(contributions(shape, Reduction::max, ranks), at_root(shape, ranks - 1, ranks), topology,
                   plan_reduce);
    }
  }
}

TEST(CollectivePlans, AllReduce) {
  for (const Topology& topology : topologies()) {
    for (const Shape& shape : shapes(topology.ranks())) {
      expect_right(contributions(shape, Reduction::product, topology.ranks()),
                   everywhere(shape, topology.ranks()), topology, plan_all_reduce);
    }
  }
}

TEST(CollectivePlans, Parts) {
  for (const Topology& topology : topologies()) {
    const int ranks = topology.ranks();
    std::vector<std::int64_t> counts;
    for (int rank = 0; rank < ranks; ++rank) counts.push_back(rank % 2 == 1 ? 0 : 3 + rank);
    std::int64_t sum = 0;
    for (const std::int64_t count : counts) sum += count;
    const Shape shape{sum, 3};
    const Layout spread = parts(shape, counts, ranks);
    expect_right(spread, everywhere(shape, ranks), topology, plan_all_gather);
    expect_right(spread, at_root(shape, 0, ranks), topology, plan_single_redistribution);
    expect_right(at_root(shape, ranks - 1, ranks), spread, topology, plan_single_redistribution);
    expect_right(contributions(shape, Reduction::sum, ranks), spread, topology, plan_single_redistribution);
    const Layout rows = by_rank({4 * ranks, 3}, ranks);
    expect_right(rows, Layout(Slab(1), rows.shape(), ranks), topology, plan_single_redistribution);
  }
}

// What a rank gets from the network: 2 n (P - 1) / P of a large all-reduce, since every rank reduces a slice.
TEST(CollectivePlans, ALargeAllReduceTravelsInSlices) {
  const int ranks = 8;
  const std::int64_t count = 800000;
  const Topology topology = Topology::regular(ranks, 1);
  const std::vector<Operand> operands{operand_of(contributions({count}, Reduction::sum, ranks), false),
                                      operand_of(everywhere({count}, ranks), false)};
  const Traffic moved = traffic(plan_all_reduce({"all_reduce", operands, topology, 3}));
  EXPECT_EQ(moved.network_bytes, 2 * 4 * count * (ranks - 1) / ranks);
}

// On devices all is given at once where it fits, and in rounds of bounded scratch where it does not.
TEST(CollectivePlans, UnevenPartsOfDevicesAreGivenAtOnce) {
  const int ranks = 3;
  const auto steps_of = [&](std::int64_t rows) {
    Counts counts(ranks, std::vector<std::int64_t>(ranks, rows));
    counts[0][1] = 2 * rows;
    std::vector<Operand> operands;
    for (int i = 0; i < 2; ++i) {
      operands.push_back(operand_of(by_rank({4 * rows, 16}, ranks), false));
      operands.back().space = MemorySpace::device;
    }
    const Topology topology = Topology::regular(ranks);
    return plan_all_to_all_v({"all_to_all_v", operands, topology, 0}, counts).steps.size();
  };
  EXPECT_EQ(steps_of(100), steps_of(10000));
  EXPECT_LT(steps_of(100), 20U);
  EXPECT_GT(steps_of(1 << 20), 100U);
}

// Ghost cells of a slab in the middle: two rows from each neighbour, and no others.
TEST(CollectivePlans, AHaloGetsWhatItNeeds) {
  const int ranks = 512;
  const Layout layout(Slab(0), {4096, 100}, ranks);
  const HaloOptions options{.lower = {2, 0}};
  const Halos halos = make_halos(layout, options);
  const std::vector<Operand> operands = halo_operands(halos, Dtype::f32);
  const Topology topology = Topology::regular(ranks, 1);
  const Traffic middle = traffic(plan_halo({"halo", operands, topology, 300}, options, layout));
  EXPECT_EQ(middle.network_bytes, 2 * 2 * 100 * 4);
  EXPECT_EQ(middle.messages, 2);
  const Traffic first = traffic(plan_halo({"halo", operands, topology, 0}, options, layout));
  EXPECT_EQ(first.network_bytes, 2 * 100 * 4);
}

// In halves it gets the same; the first waits for no rank, the second sends nothing.
TEST(CollectivePlans, APostedHaloGivesBeforeItTakes) {
  const int ranks = 12;
  const Layout layout(Slab(0), {40, 10}, ranks);
  const HaloOptions options{.lower = {4, 0}, .upper = {1, 2}, .periodic = {true, true}};
  const Halos halos = make_halos(layout, options);
  const std::vector<Operand> operands = halo_operands(halos, Dtype::f32);
  for (const int per_node : {1, 3, ranks}) {
    const Topology topology = Topology::regular(ranks, per_node);
    std::int64_t most = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      most = std::max(most, halo_posted_bytes(halos, topology, rank, Dtype::f32));
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const Request request{"halo", operands, topology, rank};
      const PostedHalo posted = plan_posted_halo(request, halos, most);
      const Traffic moved = traffic(posted.plan), ringed = traffic(plan_halo(request, options, layout));
      EXPECT_EQ(moved.network_bytes, ringed.network_bytes);
      EXPECT_EQ(moved.node_bytes, ringed.node_bytes);
      for (std::size_t i = 0; i < posted.plan.steps.size(); ++i) {
        const Step& step = posted.plan.steps[i];
        const bool gives =
            step.kind == StepKind::send || (step.kind == StepKind::signal && planning::opens(step.channel));
        const bool waits =
            step.kind == StepKind::wait || step.kind == StepKind::receive || !step.after.empty();
        if (gives) {
          EXPECT_LT(i, posted.given);
        }
        if (waits) {
          EXPECT_GE(i, posted.given);
        }
      }
    }
  }
}

}  // namespace
}  // namespace partita::collective
