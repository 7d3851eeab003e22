// Panels of a factorization on devices, concurrently with other work of a rank.
#include "execute/executor.hpp"
#include "plan/plan_builder.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

constexpr std::int64_t panel_size = 8;

Operand replicated_on_device(const Shape& shape, Dtype dtype, int ranks) {
  Operand operand =
      Operand::of(Layout(Replicated(), shape, ranks), dtype, Order::column_major, Residency::ordinary);
  operand.space = MemorySpace::device;
  return operand;
}

/// Of one rank: a separate panel with what belongs to it, and a matrix that a peer may write.
struct PanelWorks {
  explicit PanelWorks(const Context& context) {
    const int ranks = context.size();
    plan.operation = "panels";
    plan.rank = context.rank();
    plan.topology = context.state()->topology(MemorySpace::device);
    const Shape square{panel_size, panel_size};
    panel = builder.add_operand("panel", replicated_on_device(square, Dtype::f64, ranks));
    factors = builder.add_operand("tau", replicated_on_device({panel_size}, Dtype::f64, ranks));
    status = builder.add_operand("status", replicated_on_device({1}, Dtype::i32, ranks));
    Operand shared = replicated_on_device(square, Dtype::f64, ranks);
    shared.residency = Residency::heap;
    matrix = builder.add_operand("matrix", shared);
  }
  Part all_of(int buffer) const {
    return {builder.operand(buffer).layout.region(plan.rank), builder.own(buffer)};
  }
  void factorize() {
    builder.compute(FactorPanel{Factorization::qr, all_of(panel), all_of(factors), all_of(status)});
  }
  void apply() { builder.compute(ApplyReflectors{all_of(panel), all_of(factors), all_of(matrix)}); }

  Plan plan;
  planning::PlanBuilder builder{plan};
  int panel = -1, factors = -1, status = -1, matrix = -1;
};

std::int64_t workspace_of(Context& context, bool factorizes, bool applies) {
  PanelWorks works(context);
  if (factorizes) works.factorize();
  if (applies) works.apply();
  return execution::Executor::bind(*context.state(), {works.plan})->local_workspace_bytes();
}

DEVICE_TEST(APanelHasAWorkspaceOfItsOwn) {
  const std::int64_t of_panel = workspace_of(context, true, false);
  const std::int64_t of_others = workspace_of(context, false, true);
  EXPECT_GT(of_panel, 0);
  EXPECT_GT(of_others, 0);
  EXPECT_GE(workspace_of(context, true, true), of_panel + of_others);
}

/// Each rank waits for the panel of the one before it, and factorizes its own behind that in the plan: in the
/// order of the plan no rank would ever continue.
DEVICE_TEST(PanelsDoNotWaitForWhatIsBeforeThem) {
  const int ranks = context.size();
  if (ranks == 1 || context.state()->device_topology.node_count() > 1)
    GTEST_SKIP() << "needs devices that write each other's memory";
  std::int64_t sharers = context.state()->device_sharers;
  all_reduce(context, view(sharers), view(sharers), {.reduction = Reduction::min});
  if (sharers > 1) GTEST_SKIP() << "ranks that share a device keep panels in order";
  PanelWorks works(context);
  const int next = (context.rank() + 1) % ranks, previous = (context.rank() + ranks - 1) % ranks;
  works.builder.wait(previous, planning::Channel::written);
  works.factorize();
  works.builder.copy(context.rank(), works.all_of(works.panel).region, works.builder.own(works.panel),
                     {works.matrix, next, 0, {}});
  works.builder.signal(next, planning::Channel::written);
  works.apply();
  auto executor = execution::Executor::bind(*context.state(), {works.plan});
  execution::Executor::connect_all(*context.state(), executor);
  // Of the identity no reflector changes anything, so that it is what everybody has in the end.
  const ArrayOptions as_planned{.residency = Residency::ordinary, .order = Order::column_major};
  const Array panel = eye(context, panel_size, panel_size, Replicated(), Dtype::f64, 0, as_planned);
  const Array factors = zeros(context, {panel_size}, Replicated(), Dtype::f64, as_planned);
  const Array status = full(context, {1}, Replicated(), std::int32_t{-1}, as_planned);
  const Array matrix =
      zeros(context, {panel_size, panel_size}, Replicated(), Dtype::f64, {.order = Order::column_major});
  context.synchronize();
  context.barrier();
  context.state()->options.deadline = std::chrono::seconds(30);
  executor->execute(
      std::array{panel.state().get(), factors.state().get(), status.state().get(), matrix.state().get()});
  EXPECT_EQ(
      compare(matrix, eye(context, panel_size, panel_size, Replicated(), Dtype::f64)).largest_difference, 0);
  EXPECT_EQ(max<std::int32_t>(status), 0);
}

}  // namespace
}  // namespace partita::testing
