// D summed around a ring, on devices.
#include "device/packet_exchange.hpp"
#include "support/models/matmul_cut_along_k.hpp"
#include "support/models/matmul_numbers.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using namespace testing::matmul_numbers;
using testing::MatmulCase;

/// Of more ranks than exchange packets.
MatmulCase random_ring_case(std::uint64_t seed) {
  constexpr int most_in_packets = devices::PacketSlots::most_ranks;
  const Dtype dtype = std::array{Dtype::f32, Dtype::f64, Dtype::c128, Dtype::c64}[seed % 4];
  testing::CutAlongK cut(seed, most_in_packets + 1, most_in_packets + 5, dtype, 60, 30);
  MatmulCase& test = cut.test;
  test.operands.a = cut.operand(Slab(1), test.m, test.k);
  test.operands.b = cut.operand(Slab(0), test.k, test.n);
  const std::array<Distribution, 5> results{
      Slab(0), Slab(1), Replicated(), Replicated(),
      BlockNonCyclic(ProcessGrid({1, cut.ranks}), {test.m, test.n / cut.ranks + cut.any(1, 4)})};
  test.operands.d = cut.operand(results[static_cast<std::size_t>(cut.any(0, 4))], test.m, test.n);
  cut.finish();
  const bool everywhere = test.operands.d.layout.is_replicated();
  test.options.method = everywhere ? MatmulMethod::all_reduce : MatmulMethod::reduce_scatter;
  return test;
}

/// What stands behind the text; nothing: it is not there.
std::optional<int> number_behind(const Plan& plan, const std::string& text) {
  const std::size_t at = plan.reason.find(text);
  return at == std::string::npos ? std::nullopt
                                 : std::optional(std::stoi(plan.reason.substr(at + text.size())));
}

/// Of each part; 0: no ring.
int pieces_of(const Plan& plan) {
  return number_behind(plan, "are passed around the ring of ranks in ").value_or(0);
}
int chains_of(const Plan& plan) {
  return number_behind(plan, "of each part, in ").value_or(1);
}

TEST(MatmulRing, MakesTheProductWhateverTheShapesAndRatesAre) {
  int rings = 0, several = 0, in_chains = 0, put_to_all = 0, with_c = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const MatmulCase test = random_ring_case(seed);
    const Plan plan = test.plan(0);
    if (pieces_of(plan) == 0) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string() + "\n" + plan.reason);
    run(test, seed);
    if (HasFatalFailure()) return;
    ++rings;
    several += pieces_of(plan) > 1 ? 1 : 0;
    in_chains += chains_of(plan) > 1 ? 1 : 0;
    put_to_all += contains(plan.reason, "sends its part of d to all") ? 1 : 0;
    with_c += test.operands.c ? 1 : 0;
  }
  EXPECT_GT(rings, 40);
  EXPECT_GT(several, 15);
  EXPECT_GT(in_chains, 5);
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
// of a product, but for what comes of other chains than the first: each of those is a pass over the own part.
TEST(MatmulRing, SendsEachPartOnceAndAddsWhatArrivesInTheProduct) {
  for (const int ranks : {2, 4}) {
    for (const bool everywhere : {false, true}) {
      MatmulCase test = testing::large_cut_along_k(
          Dtype::bf16, ranks, everywhere ? Distribution(Replicated()) : Distribution(Slab(0)));
      test.options.reduce_dtype = Dtype::bf16;
      const Plan plan = test.plan(1);
      const int pieces = pieces_of(plan);
      const bool in_chains = ranks > 2 && !everywhere;
      ASSERT_GT(pieces, in_chains ? 0 : 1) << plan.reason;
      std::int64_t sent = 0;
      for (const Step& step : plan.steps) {
        if (step.kind == StepKind::copy && step.to.rank != 1) sent += step.region.size();
      }
      const std::int64_t part = std::int64_t{8192} * 8192 / ranks;
      EXPECT_EQ(sent, (everywhere ? 2 : 1) * (ranks - 1) * part);
      std::int64_t products = 0, added = 0, passes = 0;
      for (std::size_t i = 0; i < plan.works.size(); ++i) {
        products += std::holds_alternative<Multiply>(plan.works[i]) ? 1 : 0;
        const auto* const pass = std::get_if<ApplyEpilogue>(&plan.works[i]);
        if (pass == nullptr) continue;
        EXPECT_EQ(pass->beta, Beta::one);
        (std::holds_alternative<Multiply>(plan.works[i - 1]) ? added : passes) += 1;
      }
      const int chains = chains_of(plan);
      EXPECT_EQ(chains, in_chains ? 2 : 1) << plan.reason;
      EXPECT_EQ(products, ranks * pieces);
      EXPECT_EQ(added, (ranks - chains) * pieces);
      EXPECT_EQ(passes, (chains - 1) * pieces);
    }
  }
}

}  // namespace
}  // namespace partita
