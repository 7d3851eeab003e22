// What a plan was asked for stands in it, and no two requests have the same hash.
#include "support/test.hpp"

namespace partita {
namespace {

constexpr int ranks = 3;
const Topology topology = Topology::regular(ranks);

Operand square(const Distribution& distribution, Dtype dtype) {
  return Operand::of(Layout(distribution, {24, 24}, ranks), dtype, Order::row_major, Residency::heap);
}

std::uint64_t hash_of_fft(const FftOptions& options, Dtype dtype) {
  const Operand operand = square(Slab(0), dtype);
  const Plan plan = plan_fft(operand, operand, topology, 1, options);
  EXPECT_FALSE(plan.identity.empty());
  EXPECT_EQ(plan.hash(), plan_fft(operand, operand, topology, 2, options).hash());
  return plan.hash();
}

TEST(PlanIdentity, TransformsDifferInDirectionAxisNormAndKind) {
  std::set<std::uint64_t> hashes;
  for (const bool inverse : {false, true}) {
    for (const int axis : {0, 1}) {
      for (const Norm norm : {Norm::backward, Norm::ortho, Norm::forward}) {
        hashes.insert(hash_of_fft({.axes = {axis}, .inverse = inverse, .norm = norm}, Dtype::c128));
      }
    }
  }
  for (const FftKind kind : {FftKind::dct1, FftKind::dct2, FftKind::dct3, FftKind::dst2}) {
    hashes.insert(hash_of_fft({.kind = kind}, Dtype::f64));
  }
  EXPECT_EQ(hashes.size(), 16U);
}

TEST(PlanIdentity, ProductsDifferInOpsAndEpilogue) {
  const Operand operand = square(Slab(0), Dtype::c128);
  std::set<std::uint64_t> hashes;
  for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose, Op::conjugate}) {
    for (const Epilogue epilogue : {Epilogue::none, Epilogue::bias_gradient_a, Epilogue::bias_gradient_b}) {
      MatmulOptions options{.op_a = op, .epilogue = epilogue};
      MatmulOperands operands{operand, operand, {}, operand};
      if (epilogue != Epilogue::none) {
        operands.epilogue.gradient = Operand::of(Layout(Slab(0), {24}, ranks), Dtype::c128);
      }
      const Plan plan = plan_matmul(operands, topology, 1, options);
      EXPECT_EQ(plan.hash(), plan_matmul(operands, topology, 2, options).hash());
      hashes.insert(plan.hash());
    }
  }
  EXPECT_EQ(hashes.size(), 12U);
}

TEST(PlanIdentity, RedistributionsDifferInAxesAndStaging) {
  const Operand rows = square(Slab(0), Dtype::f64), columns = square(Slab(1), Dtype::f64);
  RedistributeOptions transposing, staged;
  transposing.axes = {1, 0};
  staged.method = RedistributeMethod::staged;
  RedistributeOptions bounded = staged;
  bounded.staging_bytes = 1 << 20;
  std::set<std::uint64_t> hashes;
  for (const RedistributeOptions& options : {RedistributeOptions{}, transposing, staged, bounded}) {
    const Plan plan = plan_redistribute(rows, columns, topology, 1, options);
    EXPECT_EQ(plan.identity.size(), 3U);
    EXPECT_EQ(plan.hash(), plan_redistribute(rows, columns, topology, 2, options).hash());
    hashes.insert(plan.hash());
  }
  EXPECT_EQ(hashes.size(), 4U);
}

}  // namespace
}  // namespace partita
