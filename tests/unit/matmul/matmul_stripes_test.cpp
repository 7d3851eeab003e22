// D made in stripes over all of k, on devices.
#include "plan/lanes.hpp"
#include "support/models/matmul_cut_along_k.hpp"
#include "support/models/matmul_numbers.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using namespace testing::matmul_numbers;
using testing::MatmulCase;

/// Of a factor now and then the other dimension is cut.
MatmulCase random_case(std::uint64_t seed) {
  const Dtype dtype = std::array{Dtype::bf16, Dtype::f16, Dtype::f32, Dtype::c64}[seed % 4];
  testing::CutAlongK cut(seed, 2, 8, dtype, 40, 40);
  MatmulCase& test = cut.test;
  test.operands.a = cut.operand(Slab(cut.any(0, 3) == 0 ? 0 : 1), test.m, test.k);
  test.operands.b = cut.operand(Slab(cut.any(0, 3) == 0 ? 1 : 0), test.k, test.n);
  const int result = cut.any(0, 2);
  test.operands.d =
      cut.operand(result == 2 ? Distribution(Replicated()) : Distribution(Slab(result)), test.m, test.n);
  cut.finish();
  return test;
}

int stripes_of(const Plan& plan) {
  const std::string text = "d is made in ";
  const std::size_t at = plan.reason.find(text);
  return at == std::string::npos ? 0 : std::stoi(plan.reason.substr(at + text.size()));
}

// The own part of k beforehand or not, of all stripes or a few; D on one rank or on all.
TEST(MatmulStripes, MakeTheProductWhateverTheShapesAndRatesAre) {
  int several = 0, filled = 0, put_to_all = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const MatmulCase test = random_case(seed);
    const Plan plan = test.plan(0);
    if (stripes_of(plan) == 0) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string() + "\n" + plan.reason);
    run(test, seed);
    if (HasFatalFailure()) return;
    several += stripes_of(plan) > 1 ? 1 : 0;
    filled += std::ranges::count(planning::lanes_of(plan), planning::keeping) > 0 ? 1 : 0;
    put_to_all += contains(plan.reason, "sends its part of d to all") ? 1 : 0;
  }
  EXPECT_GT(several, 40);
  EXPECT_GT(filled, 40);
  EXPECT_GT(put_to_all, 20);
}

// Where it has all of k at once, the product rounds; there is no pass but for stripes that were begun before.
TEST(MatmulStripes, AreRoundedByTheProduct) {
  MatmulCase test = testing::large_cut_along_k(Dtype::bf16, 2, Slab(0));
  test.operands.b.layout = test.operands.d.layout = Layout(Slab(0), {8192, 32768}, 2);
  const Plan plan = test.plan(1);
  const int stripes = stripes_of(plan);
  ASSERT_GT(stripes, 1) << plan.reason;
  const auto count = [&]<class Kind>() {
    return std::ranges::count_if(plan.works,
                                 [](const Work& work) { return std::holds_alternative<Kind>(work); });
  };
  const auto products = count.operator()<Multiply>(), passes = count.operator()<ApplyEpilogue>();
  EXPECT_EQ(products, stripes + passes);
  EXPECT_LT(passes, stripes);
}

// Nothing of D is left to be redistributed behind the last product but its own stripe.
TEST(MatmulStripes, GoToAllRanksOneByOne) {
  const MatmulCase test = testing::large_cut_along_k(Dtype::bf16, 2, Replicated());
  const Plan plan = test.plan(0);
  ASSERT_GT(stripes_of(plan), 1) << plan.reason;
  int puts = 0;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::copy && step.to.rank == 1 && step.to.buffer == 2) {
      EXPECT_LE(step.region.size() * stripes_of(plan), 8192 * 8192);
      ++puts;
    }
  }
  EXPECT_EQ(puts, stripes_of(plan));
}

}  // namespace
}  // namespace partita
