// Ranks that execute different plans, or different arrays, are found out; large counts work.
#include "execute/plan_memory.hpp"
#include "support/on_ranks.hpp"
#include "support/withdrawal.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

ContextOptions short_deadline() {
  return {.deadline = 5s};
}

/// Whether the text says what is wrong. On another node a rank may only see that its peer, which saw it
/// first, has given up.
bool says_what_is_wrong(const std::string& text) {
  const bool names_both = contains(text, "the ranks disagree on ") || contains(text, "different operations");
  return names_both || contains(text, "different plans") ||
         (ranks().per_node > 0 && contains(text, "given up"));
}

/// Every rank must be notified, whether it saw the error itself or another rank did.
void expect_found_out(Context& context, const std::function<void()>& call) {
  const std::string text = text_of_error<Error>(call);
  EXPECT_TRUE(says_what_is_wrong(text)) << text;
  EXPECT_TRUE(!context.failed() || says_what_is_wrong(context.failure())) << context.failure();
  expect_goes_on_where_it_can(context);
}

RANK_TEST_WITH(RedistributeFailure, DifferentPlansOnDifferentRanks, short_deadline()) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  Array rows = empty(context, {40, 24}, Slab(0), Dtype::f64);
  Array columns = empty(context, {40, 24}, Slab(1), Dtype::f64);
  Redistribute there(context, rows.operand(), columns.operand());
  Redistribute back(context, columns.operand(), rows.operand());
  expect_found_out(context,
                   [&] { context.rank() == 0 ? there.execute(rows, columns) : back.execute(columns, rows); });
}

// Peers read the heap by offset: another array of the same layout on one rank would give wrong numbers
// silently.
RANK_TEST_WITH(RedistributeFailure, DifferentArraysOnDifferentRanks, short_deadline()) {
  if (ranks().count == 1 || ranks().per_node == 1) GTEST_SKIP() << "needs several ranks of a node";
  if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  Array one = empty(context, {40, 24}, Slab(0), Dtype::f64);
  Array other = empty(context, {40, 24}, Slab(0), Dtype::f64);
  Array columns = empty(context, {40, 24}, Slab(1), Dtype::f64);
  Redistribute plan(context, one.operand(), columns.operand());
  ASSERT_NE(plan.plan().method, "local");
  const bool neighbours = context.topology().same_node(0, context.size() - 1);
  if (!neighbours) GTEST_SKIP() << "needs the first and the last rank on one node";
  expect_found_out(context, [&] { plan.execute(context.rank() == 0 ? one : other, columns); });
}

RANK_TEST(RedistributeFailure, AnArrayOfAnotherLayoutIsRefused) {
  Array rows = empty(context, {40, 24}, Slab(0), Dtype::f64);
  Array columns = empty(context, {40, 24}, Slab(1), Dtype::f64);
  Array ordinary = empty(context, {40, 24}, Slab(0), Dtype::f64, {.residency = Residency::ordinary});
  Redistribute plan(context, rows.operand(), columns.operand());
  if (context.size() > 1) {
    EXPECT_THROW(plan.execute(columns, rows), ArgumentError);
  }
  EXPECT_THROW(plan.execute(ordinary, columns), ArgumentError);
  EXPECT_THROW(plan.execute(), ArgumentError);
  EXPECT_FALSE(context.failed());
  write_known(rows);
  plan.execute(rows, columns);
  EXPECT_EQ(count_wrong(columns, rows.layout()), 0);
}

RANK_TEST(RedistributeFailure, OptionsThatDifferAreNamed) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  const Array rows = zeros(context, {8, 6}, Slab(0), Dtype::f64);
  EXPECT_ERROR(DisagreementError,
               redistribute(rows, Slab(1),
                            {.method = context.rank() == 1 ? RedistributeMethod::staged
                                                           : RedistributeMethod::messages}),
               "method staged", "method messages");
}

// A refused call leaves nothing behind: the next one has the addresses of its arrays.
RANK_TEST(RedistributeFailure, ARefusedOperandLeavesNothingBehind) {
  using enum RedistributeMethod;
  const Layout rows(Slab(0), {13, 29}, context.size()), columns(Slab(1), {13, 29}, context.size());
  for (const RedistributeMethod method : {automatic, pushed, staged, messages}) {
    WrappedSymmetric first = spread(context, rows, Dtype::f64, 2),
                     second = spread(context, rows, Dtype::f64, 3);
    Array to = empty(context, columns, Dtype::f64), wrong = empty(context, columns, Dtype::f32);
    write_known(first.array);
    write_known(second.array);
    Redistribute plan(context, first.array.operand(), to.operand(), {.method = method});
    plan.execute(first.array, to);
    EXPECT_EQ(count_wrong(to, rows), 0) << plan.explain();
    EXPECT_THROW(plan.execute(second.array, wrong), ArgumentError);
    write_constant(to, 1);
    plan.execute(second.array, to);
    EXPECT_EQ(count_wrong(to, rows), 0) << "after a refused call: " << plan.explain();
  }
}

// The arrays of a call whose lowering threw are lowered by the next one.
RANK_TEST(RedistributeFailure, AnExceptionInLoweringIsNoLowering) {
  Array rows = empty(context, {13, 29}, Slab(0), Dtype::f64);
  Array columns = empty(context, {13, 29}, Slab(1), Dtype::f64);
  const Operand from = rows.operand(), to = columns.operand();
  const Plan plan = plan_redistribute(from, to, context.state()->topology(from.space), context.rank());
  execution::PlanMemory memory(*context.state(), plan, from.space, from.space);
  const std::array<const Array::State*, 2> operands{rows.state().get(), columns.state().get()};
  int calls = 0;
  const auto bind = [&](bool fails) {
    memory.bind(operands);
    memory.lower([&] {
      ++calls;
      if (fails) throw MemoryError("a test says so");
    });
  };
  EXPECT_THROW(bind(true), MemoryError);
  EXPECT_THROW(bind(true), MemoryError);
  bind(false);
  bind(false);
  EXPECT_EQ(calls, 3);
}

// More than 2^31 bytes from one rank to another.
void move_two_gibibytes(Context& context) {
  const std::int64_t size = (std::int64_t{1} << 31) + 12345;
  const Layout first(Box({{{0}, {size}}, {{0}, {0}}}), {size}, 2);
  const Layout second(Box({{{0}, {0}}, {{0}, {size}}}), {size}, 2);
  Array source = empty(context, first, Dtype::u8);
  const auto pattern = [](std::int64_t i) { return static_cast<std::uint8_t>((i * 31 + (i >> 20)) & 0xff); };
  auto* written = source.data<std::uint8_t>();
  const std::int64_t mine = source.local_size();
  for (std::int64_t i = 0; i < mine; ++i) written[i] = pattern(i);
  const Array moved = redistribute(source, second);
  std::int64_t wrong = 0;
  const auto* read = moved.data<std::uint8_t>();
  const std::int64_t arrived = moved.local_size();
  for (std::int64_t i = 0; i < arrived; ++i) wrong += read[i] != pattern(i);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(moved.local_size(), context.rank() == 1 ? size : 0);
}

TEST(RedistributeCounts, Beyond31Bits) {
  if (!full_product() || ranks().count != 2) GTEST_SKIP() << "needs two ranks, and the full product";
  ContextOptions patient;  // the memory is touched for the first time, byte by byte
  patient.deadline = 5min;
  on_ranks(move_two_gibibytes, patient);
}

}  // namespace
}  // namespace partita::testing
