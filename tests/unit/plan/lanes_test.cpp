// What runs concurrently, in plans of factorizations on devices.
#include "plan/lanes.hpp"

#include "plan/dependencies.hpp"
#include "plan/plan_builder.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

/// Rank 1's, of an LU factorization with panels of 8 columns on two ranks.
struct PanelPlan {
  PanelPlan() {
    plan.rank = 1;
    plan.topology = Topology::regular(2);
    Operand factor_operand = Operand::of(Layout(BlockCyclic({1, 2}, {32, 8}), {32, 48}, 2), Dtype::f64,
                                         Order::column_major, Residency::heap);
    factor_operand.space = MemorySpace::device;
    factor = builder.add_operand("factors", factor_operand);
    pivots = builder.add_operand("pivots", Operand::of(Layout(Replicated(), {32}, 2), Dtype::i32));
    status = builder.add_operand("status", Operand::of(Layout(Replicated(), {6}, 2), Dtype::i32));
  }
  Part numbers(int buffer, std::int64_t first, std::int64_t end) {
    return {{{IndexSet::range(first, end)}}, builder.own(buffer)};
  }
  Part part(std::int64_t first_row, const IndexSet& columns) {
    return {{{IndexSet::range(first_row, 32), columns}}, builder.own(factor)};
  }
  int factorize(std::int64_t panel) {
    const std::int64_t first = 8 * panel;
    return builder.compute(FactorPanel{Factorization::lu, part(first, IndexSet::range(first, first + 8)),
                                       numbers(pivots, first, first + 8), numbers(status, panel, panel + 1)});
  }
  int exchange(std::int64_t panel, const IndexSet& columns) {
    return builder.compute(ExchangeRows{part(8 * panel, columns), numbers(pivots, 8 * panel, 8 * panel + 8)});
  }

  Plan plan;
  planning::PlanBuilder builder{plan};
  int factor = -1, pivots = -1, status = -1;
};

TEST(Lanes, APanelIsFactorizedWhileTheColumnsBehindItAreUpdated) {
  PanelPlan of;
  const IndexSet next = IndexSet::range(8, 16), rest = IndexSet::of({{24, 8, 1, 1}, {40, 8, 1, 1}});
  const auto update = static_cast<std::size_t>(of.exchange(0, next));
  const auto panel = static_cast<std::size_t>(of.factorize(1));
  const auto update_rest = static_cast<std::size_t>(of.exchange(0, rest));
  const auto update_by_panel = static_cast<std::size_t>(of.exchange(1, rest));
  const std::vector<int> lanes = planning::lanes_of(of.plan);
  EXPECT_EQ(lanes[update], planning::in_order);
  EXPECT_EQ(lanes[panel], planning::pushing);
  EXPECT_EQ(lanes[update_rest], planning::in_order);
  const auto after = planning::find_dependencies(of.plan, planning::touched_by_steps(of.plan), lanes).after;
  EXPECT_EQ(after[panel], std::vector{static_cast<int>(update)});
  EXPECT_TRUE(after[update_rest].empty());
  EXPECT_EQ(after[update_by_panel], std::vector{static_cast<int>(panel)});
}

TEST(Lanes, APanelThatIsAllHasNoLane) {
  PanelPlan of;
  const int panel = of.factorize(1);
  EXPECT_EQ(planning::lanes_of(of.plan)[static_cast<std::size_t>(panel)], planning::in_order);
}

}  // namespace
}  // namespace partita::testing
