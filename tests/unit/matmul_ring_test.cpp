// D summed around a ring, on devices.
#include <gtest/gtest.h>

#include <cmath>
#include <partita/matmul.hpp>
#include <random>

#include "device/packet_exchange.hpp"
#include "unit/matmul_numbers.hpp"

namespace partita {
namespace {

using namespace testing::matmul_numbers;
using testing::MatmulCase;

/// A and B cut along k alike, in device memory of more ranks than exchange packets; none of the rates has to
/// do with another.
MatmulCase random_ring_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto any = [&](int first, int last) { return std::uniform_int_distribution(first, last)(random); };
  MatmulCase test;
  const int ranks = devices::PacketSlots::most_ranks + any(1, 5);
  test.topology = Topology::regular(ranks);
  const Dtype dtype = std::array{Dtype::f32, Dtype::f64, Dtype::c128, Dtype::c64}[seed % 4];
  test.m = any(1, 60), test.n = any(1, 60), test.k = any(ranks, 30);
  const auto operand = [&](const Distribution& distribution, std::int64_t rows, std::int64_t columns) {
    Operand one = Operand::of(Layout(distribution, {rows, columns}, ranks), dtype,
                              any(0, 1) == 0 ? Order::row_major : Order::column_major,
                              any(0, 1) == 0 ? Residency::heap : Residency::ordinary);
    one.space = MemorySpace::device;
    return one;
  };
  test.operands.a = operand(Slab(1), test.m, test.k);
  test.operands.b = operand(Slab(0), test.k, test.n);
  const std::array<Distribution, 5> results{
      Slab(0), Slab(1), Replicated(), Replicated(),
      BlockNonCyclic(ProcessGrid({1, ranks}), {test.m, test.n / ranks + any(1, 4)})};
  test.operands.d = operand(results[static_cast<std::size_t>(any(0, 4))], test.m, test.n);
  if (any(0, 2) == 0) {
    test.operands.c = test.operands.d;
    test.in_place = any(0, 1) == 0;
    test.parameters.beta = 2;
  }
  if (!is_complex(dtype) && any(0, 2) == 0) test.options.epilogue = Epilogue::relu;
  const bool everywhere = test.operands.d.layout.is_replicated();
  test.options.method = everywhere ? MatmulMethod::all_reduce : MatmulMethod::reduce_scatter;
  const auto rate = [&](double least) { return least * std::pow(10.0, any(0, 40) / 10.0); };
  test.machine.copy_latency = test.machine.signal_latency = 0;
  test.machine.peer_bandwidth = rate(1e8);
  test.machine.copy_bandwidth = rate(1e8);
  test.machine.flops = rate(1e7);
  return test;
}

/// Of each part; 0: no ring.
int pieces_of(const Plan& plan) {
  const std::string text = "go around the ring of ranks in ";
  const std::size_t at = plan.reason.find(text);
  return at == std::string::npos ? 0 : std::stoi(plan.reason.substr(at + text.size()));
}

TEST(MatmulRing, MakesTheProductWhateverTheShapesAndRatesAre) {
  int rings = 0, several = 0, put_to_all = 0, with_c = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const MatmulCase test = random_ring_case(seed);
    const Plan plan = test.plan(0);
    if (pieces_of(plan) == 0) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string() + "\n" + plan.reason);
    run(test, seed);
    if (HasFatalFailure()) return;
    ++rings;
    several += pieces_of(plan) > 1 ? 1 : 0;
    put_to_all += plan.reason.find("puts to all") != std::string::npos ? 1 : 0;
    with_c += test.operands.c ? 1 : 0;
  }
  EXPECT_GT(rings, 40);
  EXPECT_GT(several, 15);
  EXPECT_GT(put_to_all, 8);
  EXPECT_GT(with_c, 12);
}

// Sums of halves are f32 unless they may be halves.
TEST(MatmulRing, SumsInTheDtypeOfD) {
  for (const Distribution& result : {Distribution(Slab(0)), Distribution(Replicated())}) {
    MatmulCase test = testing::large_cut_along_k(Dtype::bf16, 2, result);
    EXPECT_EQ(pieces_of(test.plan(0)), 0);
    test.options.reduce_dtype = Dtype::bf16;
    EXPECT_GT(pieces_of(test.plan(0)), 0) << test.plan(0).reason;
    test.operands.d.dtype = Dtype::f32;
    test.options.method =
        result == Distribution(Replicated()) ? MatmulMethod::all_reduce : MatmulMethod::reduce_scatter;
    test.options.reduce_dtype = {};
    EXPECT_GT(pieces_of(test.plan(0)), 0) << test.plan(0).reason;
  }
}

// What leaves a rank are P - 1 parts in D's dtype; of a D on all ranks as many again. What arrives is the C
// of a product: no pass is left that is not of one.
TEST(MatmulRing, SendsEachPartOnceAndAddsWhatArrivesInTheProduct) {
  for (const int ranks : {2, 4}) {
    for (const bool everywhere : {false, true}) {
      MatmulCase test = testing::large_cut_along_k(
          Dtype::bf16, ranks, everywhere ? Distribution(Replicated()) : Distribution(Slab(0)));
      test.options.reduce_dtype = Dtype::bf16;
      const Plan plan = test.plan(1);
      const int pieces = pieces_of(plan);
      ASSERT_GT(pieces, 1) << plan.reason;
      std::int64_t sent = 0;
      for (const Step& step : plan.steps) {
        if (step.kind == StepKind::copy && step.to.rank != 1) sent += step.region.size();
      }
      const std::int64_t part = std::int64_t{8192} * 8192 / ranks;
      EXPECT_EQ(sent, (everywhere ? 2 : 1) * (ranks - 1) * part);
      std::int64_t products = 0, added = 0;
      for (std::size_t i = 0; i < plan.works.size(); ++i) {
        products += std::holds_alternative<Multiply>(plan.works[i]) ? 1 : 0;
        const auto* const pass = std::get_if<ApplyEpilogue>(&plan.works[i]);
        if (pass == nullptr) continue;
        ++added;
        EXPECT_EQ(pass->beta, Beta::one);
        EXPECT_TRUE(std::holds_alternative<Multiply>(plan.works[i - 1]));
      }
      EXPECT_EQ(products, ranks * pieces);
      EXPECT_EQ(added, (ranks - 1) * pieces);
    }
  }
}

}  // namespace
}  // namespace partita
