// What works of products and transforms cost.
#include "support/test.hpp"

namespace partita {
namespace {

/// Round figures.
Machine price_figures() {
  Machine machine;
  machine.name = "round";
  machine.copy_bandwidth = 1e9;
  machine.node_copy_bandwidth = 1.5e9;
  machine.strided_bandwidth = 2.5e8;
  machine.peer_bandwidth = 5e8;
  machine.network_bandwidth = 1e8;
  machine.copy_latency = 1e-3;
  return machine;
}

Operand on_every_rank(const Shape& shape, Dtype dtype, int ranks) {
  return Operand::of(Layout(Replicated(), shape, ranks), dtype, Order::row_major, Residency::heap);
}

// 8e6 bytes of the matrix, and 2e6 operations.
TEST(Price, OfAMatrixByAVectorIsReadingTheMatrix) {
  const auto seconds = [](int ranks, Machine machine) {
    const MatmulOperands operands{on_every_rank({1000, 1000}, Dtype::f64, ranks),
                                  on_every_rank({1000}, Dtype::f64, ranks),
                                  {},
                                  on_every_rank({1000}, Dtype::f64, ranks)};
    machine.flops = 1e12;
    return price(plan_matmul(operands, Topology::regular(ranks), 0, {.method = MatmulMethod::local}, machine),
                 machine);
  };
  const double matrix = 8e6, vector = 8e3;
  EXPECT_DOUBLE_EQ(seconds(1, price_figures()), 1e-3 + (matrix + vector) / 1e9);
  EXPECT_DOUBLE_EQ(seconds(2, price_figures()),
                   1e-3 + (matrix + vector) / 0.75e9);  // all ranks of a node read
  Machine slow = price_figures();
  slow.copy_bandwidth = slow.node_copy_bandwidth = 1e15;
  EXPECT_NEAR(seconds(1, slow), 1e-3 + 2e6 / 1e12, 1e-8);
}

TEST(Price, OfATransformIsAPassForEachAxisOrItsOperations) {
  const Shape shape{64, 64, 64};
  const double elements = 64 * 64 * 64;
  const auto seconds = [&](Dtype dtype, const Machine& machine) {
    const Operand array = on_every_rank(shape, dtype, 1);
    return price(plan_fft(array, array, Topology::regular(1), 0, {}, machine), machine);
  };
  Machine machine = price_figures();
  machine.copy_latency = 0;
  machine.flops = 1e15;
  EXPECT_NEAR(seconds(Dtype::c128, machine), 3 * 16 * elements / 1e9, 1e-9);
  machine.flops_transform = 1e6;
  EXPECT_NEAR(seconds(Dtype::c128, machine), 5 * 18 * elements / 1e6, 1e-6);
  EXPECT_NEAR(seconds(Dtype::c64, machine), 5 * 18 * elements / 2e6, 1e-6);
}

}  // namespace
}  // namespace partita
