// Plans of few rows on the devices of a node: what they exchange may go in packets.
#include <gtest/gtest.h>

#include "plan/work.hpp"
#include "support/models/matmul_numbers.hpp"

namespace partita {
namespace {

using namespace testing::matmul_numbers;
using multiplication::ProductPlan;
using testing::MatmulCase;

/// bf16 on the devices of one node.
MatmulCase on_devices(const Shape& m_n_k, int ranks, const Distribution& of_a, const Distribution& of_b,
                      const Distribution& of_d) {
  MatmulCase test = testing::square(1, Slab(0), Topology::regular(ranks));
  test.m = m_n_k[0];
  test.n = m_n_k[1];
  test.k = m_n_k[2];
  const auto lie = [&](const Shape& shape, const Distribution& how) {
    return Operand::of(Layout(how, shape, ranks), Dtype::bf16, Order::row_major, Residency::heap);
  };
  test.operands = {lie({test.m, test.k}, of_a), lie({test.k, test.n}, of_b), {}, lie({test.m, test.n}, of_d)};
  testing::lay_on_devices(test);
  return test;
}

ProductPlan planned(const MatmulCase& test, int rank) {
  return multiplication::plan_product(test.operands, test.topology, rank, test.options, test.machine,
                                      test.in_place, {});
}

/// The one exchange of the plan, if it is in packets.
std::optional<planning::PacketSteps> in_packets(const ProductPlan& product) {
  EXPECT_LE(product.packets.size(), 1U);
  return product.packets.empty() ? std::nullopt : std::optional(product.packets.front());
}

/// Nothing that the plan exchanges is outside of the steps in packets.
void expect_only_packets(const ProductPlan& product, const planning::PacketSteps& packets) {
  ASSERT_LE(packets.first, packets.behind);
  ASSERT_LE(packets.behind, product.plan.steps.size());
  for (std::size_t i = 0; i < product.plan.steps.size(); ++i) {
    const Step& step = product.plan.steps[i];
    const bool is_flag = step.kind == StepKind::signal || step.kind == StepKind::wait;
    EXPECT_TRUE(!is_flag || (i >= packets.first && i < packets.behind)) << i;
  }
}

TEST(MatmulPackets, SumsOfEveryRankGoToAllThatHoldThem) {
  for (const int ranks : {2, 3, 4, 8}) {
    for (const Distribution& of_d : {Distribution(Replicated()), Distribution(Slab(1))}) {
      MatmulCase test = on_devices({5, 40, 64}, ranks, Slab(1), Slab(0), of_d);
      test.options.method = MatmulMethod::reduce_scatter;
      for (int rank = 0; rank < ranks; ++rank) {
        const ProductPlan product = planned(test, rank);
        const auto packets = in_packets(product);
        ASSERT_TRUE(packets) << product.plan.reason;
        EXPECT_EQ(packets->exchange.joined, Reduction::sum);
        EXPECT_EQ(packets->exchange.source.dtype, Dtype::f32);
        expect_only_packets(product, *packets);
        EXPECT_EQ(
            std::ranges::count_if(product.plan.works,
                                  [](const Work& work) { return std::holds_alternative<Multiply>(work); }),
            1);
      }
      run(test, 1);
    }
  }
}

// Rounded once more, and straight into D.
TEST(MatmulPackets, SumsTravelInTheReduceDtype) {
  MatmulCase test = on_devices({5, 40, 64}, 4, Slab(1), Slab(0), Replicated());
  test.options.reduce_dtype = Dtype::bf16;
  const ProductPlan product = planned(test, 1);
  const auto packets = in_packets(product);
  ASSERT_TRUE(packets) << product.plan.reason;
  EXPECT_EQ(packets->exchange.source.dtype, Dtype::bf16);
  EXPECT_EQ(product.plan.buffers[static_cast<std::size_t>(packets->destination)].name, "d");
  EXPECT_EQ(product.plan.works.size(), 1U);
  run(test, 3);
  test.options.reduce_dtype = Dtype::f16;
  EXPECT_THROW((void)planned(test, 1), UnsupportedError);
}

TEST(MatmulPackets, ColumnsOfEveryRankGoToAll) {
  for (const int ranks : {2, 4}) {
    MatmulCase test = on_devices({5, 40, 64}, ranks, Replicated(), Slab(1), Replicated());
    test.options.epilogue = Epilogue::relu;
    const ProductPlan product = planned(test, 1);
    const auto packets = in_packets(product);
    ASSERT_TRUE(packets) << product.plan.reason;
    EXPECT_FALSE(packets->exchange.joined);
    expect_only_packets(product, *packets);
    run(test, 2);
  }
}

// Where there is much, sums are scattered; where A or B moves, transfers overlap with products in streams of
// their own; nothing of the kind is between nodes or within a memory limit.
TEST(MatmulPackets, OtherProductsHaveNone) {
  const Shape few{5, 40, 64}, many{4096, 4096, 8192};
  const auto none = [](const MatmulCase& test) { EXPECT_FALSE(in_packets(planned(test, 0))); };
  none(on_devices(many, 2, Slab(1), Slab(0), Replicated()));
  none(on_devices(many, 2, Replicated(), Slab(1), Replicated()));
  none(on_devices(few, 2, Slab(0), Slab(1), Slab(1)));
  MatmulCase test = on_devices(few, 2, Slab(1), Slab(0), Replicated());
  EXPECT_TRUE(in_packets(planned(test, 0)));
  test.options.memory_limit = 1 << 20;
  none(test);
  test.options.memory_limit = 0;
  test.topology = Topology::regular(2, 1);
  none(test);
}

}  // namespace
}  // namespace partita
