// The object of matrix multiply: planned once, executed many times.
#include "support/models/matmul_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

RANK_TEST(MatmulObject, OperandsMayBeOverwrittenAfterEachExecute) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed() + context.rank()));
  for (const Residency residency : {Residency::heap, Residency::ordinary}) {
    const ArrayOptions how{.residency = residency};
    Array a = empty(context, {19, 23}, Slab(0), Dtype::f64, how);
    Array b = empty(context, {23, 17}, Slab(1), Dtype::f64, how);
    Array c = empty(context, {19, 17}, Slab(0), Dtype::f64, how);
    Matmul plan(context, {a.operand(), b.operand(), c.operand(), c.operand()}, {.beta = 1}, true);
    plan.reset(a, b, &c, c);
    fill(c, 0.0);
    Array sum = empty(context, {19, 17}, Replicated(), Dtype::f64, {.residency = Residency::ordinary});
    for (int round = 0; round < 20; ++round) {
      write_values(a, [&](std::int64_t number) { return static_cast<double>(number % 5 + round); });
      write_values(b, [&](std::int64_t number) { return static_cast<double>(number % 7 - round); });
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
      plan.execute();
      fill_nan(a);
      fill_nan(b);
    }
    const Whole d(c);
    for (std::int64_t i = context.rank(); i < 19; i += context.size()) {
      for (std::int64_t j = 0; j < 17; ++j) {
        long double expected = 0;
        for (int round = 0; round < 20; ++round) {
          for (std::int64_t l = 0; l < 23; ++l) {
            expected += static_cast<long double>(((i * 23 + l) % 5 + round) * ((l * 17 + j) % 7 - round));
          }
        }
        ASSERT_EQ(d.at(0, i, j), Wide(expected)) << i << "," << j;
      }
    }
  }
}

/// Three arrays of one multiply, and what it must give.
struct Trio {
  Array a, b, c;
  Whole before;

  Trio(Context& context, const Distribution& of_a, const Distribution& of_b, const Distribution& of_c)
      : a(empty(context, {21, 34}, of_a, Dtype::f64)),
        b(empty(context, {34, 27}, of_b, Dtype::f64)),
        c(empty(context, {21, 27}, of_c, Dtype::f64)) {
    fill_random(a, 1);
    fill_random(b, 2);
    fill_random(c, 3);
    before = Whole(c);
  }
  MatmulOperands operands() const { return {a.operand(), b.operand(), c.operand(), c.operand()}; }
  void expect(Context& context, const MatmulOptions& options, const char* what) const {
    const Whole whole_a(a), whole_b(b);
    const Product product{&whole_a, &whole_b, &before, options, 34};
    expect_product(product, Whole(c), Dtype::f64, context.rank(), context.size(), what);
  }
};

RANK_TEST(MatmulObject, FactorsAreGivenAnew) {
  Trio trio(context, Slab(1), Slab(0), Slab(1));
  Matmul plan(context, trio.operands(), {}, true);
  plan.reset(trio.a, trio.b, &trio.c, trio.c);
  MatmulOptions options{.alpha = 0, .beta = -1};
  plan.execute(0, 1);
  plan.execute(0, -1);
  trio.expect(context, options, "alpha 0, beta -1");
  fill_nan(trio.c);
  plan.execute(2, 0);
  options.alpha = 2;
  options.beta = 0;
  trio.expect(context, options, "alpha 2, beta 0");
}

RANK_TEST(MatmulObject, WithAlphaZeroNeitherFactorIsRead) {
  Trio trio(context, Slab(1), Slab(0), Slab(1));
  Matmul plan(context, trio.operands(), {}, true);
  plan.reset(trio.a, trio.b, &trio.c, trio.c);
  fill_nan(trio.a);
  fill_nan(trio.b);
  plan.execute(0, -1);
  MatmulOptions options{.alpha = 0, .beta = -1};
  Array in_line = empty(context, {21, 27}, Slab(0), Dtype::f64);
  matmul_into(trio.a, trio.b, &trio.c, in_line, options);
  for (std::int64_t round = 0; round < 2; ++round) {  // the second one from the cache
    const Whole d(trio.c), e(in_line), f(matmul(trio.a, trio.b, trio.c, options));
    for (std::int64_t i = 0; i < 21; ++i) {
      for (std::int64_t j = 0; j < 27; ++j) {
        ASSERT_EQ(d.at(0, i, j), -trio.before.at(0, i, j)) << i << "," << j;
        ASSERT_EQ(e.at(0, i, j), trio.before.at(0, i, j)) << i << "," << j;
        ASSERT_EQ(f.at(0, i, j), trio.before.at(0, i, j)) << i << "," << j;
      }
    }
  }
  fill_random(trio.a, 1);
  fill_random(trio.b, 2);
  fill_random(trio.c, 3);
  plan.execute(2, 0);
  options.alpha = 2;
  options.beta = 0;
  trio.expect(context, options, "alpha 2 after alpha 0");
}

RANK_TEST(MatmulObject, AutotuneKeepsAMethodAndPutsBackWhatIsInPlace) {
  Trio trio(context, Slab(0), Slab(0), Slab(0));
  MatmulOptions options{.beta = 0.5};
  Matmul plan(context, trio.operands(), options, true);
  EXPECT_THROW((void)plan.autotune(), ArgumentError);
  plan.reset(trio.a, trio.b, &trio.c, trio.c);
  EXPECT_THROW((void)plan.autotune(0), ArgumentError);
  const std::string method = plan.autotune(1);
  EXPECT_EQ(method, plan.plan().method);
  plan.execute();
  trio.expect(context, options, method.c_str());
  EXPECT_TRUE(contains(plan.explain(), "matmul"));
}

// On one rank the three methods that leave D where it is (local, all-gather, summa-c) are one plan.
RANK_TEST(MatmulObject, AutotuneTimesEachPlanOnce) {
  const std::vector<int> me{context.rank()};
  Context alone = context.subgroup(me);
  Trio trio(alone, Slab(0), Slab(0), Slab(0));
  Matmul plan(alone, trio.operands(), {.beta = 0.5}, true);
  plan.reset(trio.a, trio.b, &trio.c, trio.c);
  constexpr int runs = 3;
  const Timeline measured = record_timeline(alone, [&] { (void)plan.autotune(runs); });
  int executions = 0;
  for (const TracedStep& step : measured.ranks.front()) executions = std::max(executions, step.execution + 1);
  constexpr int different = 6;  // of eight methods
  EXPECT_GT(executions, runs);
  EXPECT_LE(executions, different * (runs + 1));
}

RANK_TEST(MatmulObject, ReleaseGivesTheScratchBackAndTheNextExecutePlansAnew) {
  Trio trio(context, Slab(0), BlockCyclic({1, context.size()}, {4, 3}), Slab(1));
  MatmulOptions options{.alpha = -1.5, .beta = 1};
  Matmul plan(context, trio.operands(), options, true);
  const std::int64_t before = plan.workspace_size();
  plan.release();
  EXPECT_EQ(plan.workspace_size(), 0);
  EXPECT_FALSE(plan.plan().method.empty());
  plan.reset(trio.a, trio.b, &trio.c, trio.c);
  plan.execute();
  EXPECT_EQ(plan.workspace_size(), before);
  trio.expect(context, options, "after release");
}

RANK_TEST(MatmulObject, ARefusedOperandLeavesNothingBehind) {
  const Layout rows(Slab(0), {21, 34}, context.size());
  WrappedSymmetric first = spread(context, rows, Dtype::f64, 2),
                   second = spread(context, rows, Dtype::f64, 3);
  Trio trio(context, Slab(0), Slab(0), Slab(0));
  Array wrong = empty(context, {34, 27}, Replicated(), Dtype::f64);
  fill_random(first.array, 1);
  fill_random(second.array, 1);
  MatmulOperands operands = trio.operands();
  operands.a = first.array.operand();
  operands.c.reset();
  Matmul plan(context, operands);
  plan.reset(first.array, trio.b, nullptr, trio.c);
  plan.execute();
  trio.expect(context, {}, "before");
  if (context.size() > 1) {
    plan.reset(second.array, wrong, nullptr, trio.c);
    EXPECT_THROW(plan.execute(), ArgumentError);
  }
  fill_nan(trio.c);
  plan.reset(second.array, trio.b, nullptr, trio.c);
  plan.execute();
  trio.expect(context, {}, "after a refused call");
}

}  // namespace
}  // namespace partita::testing
