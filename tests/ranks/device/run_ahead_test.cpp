// A host that gives its device thousands of launches at once still keeps the deadline: a driver's queue holds
// about a thousand, and who launches more blocks there.
#include "device/run_ahead.hpp"

#include "support/fakes/gate.hpp"
#include "support/on_ranks.hpp"
#include "support/withdrawal.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

/// What to execute again and again, into the context's stream.
using Execute = std::function<void()>;
using Prepare = std::function<Execute(Context&)>;

Layout rows_of(const Context& context, const Shape& shape, std::int64_t block) {
  return Layout(BlockCyclic(ProcessGrid({context.size(), 1}), {block, shape[1]}), shape, context.size());
}

Execute redistribution(Context& context, const Operand& from, const Operand& to,
                       const RedistributeOptions& options) {
  struct State {
    Array from, to;
    Redistribute plan;
  };
  const auto made = [&](const Operand& operand) {
    return zeros(context, operand.layout.shape(), operand.layout.distribution(), operand.dtype,
                 {.residency = operand.residency});
  };
  auto state = std::make_shared<State>(State{made(from), made(to), Redistribute(context, from, to, options)});
  return [state] { state->plan.execute(state->from, state->to, Stream{}); };
}

Operand on_device(Layout layout, Residency residency) {
  Operand operand = Operand::of(std::move(layout), Dtype::f32, Order::row_major, residency);
  operand.space = MemorySpace::device;
  return operand;
}

// Through slots, in many small pieces.
Execute many_steps(Context& context) {
  const Shape shape{1024, 1024};
  return redistribution(context, on_device(Layout(Slab(0), shape, context.size()), Residency::ordinary),
                        on_device(Layout(Slab(1), shape, context.size()), Residency::ordinary),
                        {.method = RedistributeMethod::staged, .staging_bytes = 64 << 10});
}

// Blocks of lengths without a common divisor meet in thousands of pieces.
Execute many_pieces(Context& context) {
  const Shape shape{601 * 607 * 3, 1};
  return redistribution(context, on_device(rows_of(context, shape, 601), Residency::heap),
                        on_device(rows_of(context, shape, 607), Residency::heap),
                        {.method = RedistributeMethod::pushed});
}

// A rank's products, one for each piece of the rows that it has of both.
Execute many_products(Context& context) {
  struct State {
    Array a, b, d;
  };
  const std::int64_t m = 2 * 2003, k = 8;
  const auto operand = [&](const Shape& shape, std::int64_t block) {
    return zeros(context, shape, BlockCyclic(ProcessGrid({context.size(), 1}), {block, shape[1]}),
                 Dtype::f32);
  };
  auto state = std::make_shared<State>(State{operand({m, k}, 2), operand({k, 8}, 1), operand({m, 8}, 3)});
  return [state] { matmul_into(state->a, state->b, nullptr, state->d, {.stream = Stream{}}); };
}

struct Executions {
  const char* name;
  Prepare prepare;
};

const Executions kinds[] = {
    {"steps", many_steps},
    {"pieces", many_pieces},
    {"products", many_products},
};

/// The device does nothing: a rank that waits for it gives up after the deadline, and says so.
void execute_behind_a_gate(Context& context, const Prepare& prepare) {
  const Execute execute = prepare(context);
  execute();
  context.synchronize();
  context.barrier();
  context.state()->options.deadline = 200ms;
  const Gate gate(context.stream());
  // As often as a program may that runs ahead of its device.
  EXPECT_THROW(
      {
        for (int i = 0; i < 2000; ++i) execute();
      },
      Error);
  EXPECT_TRUE(context.failed());
}

TEST(RunAhead, NoLaunchBlocksHoweverManyAnExecutionHas) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (ranks().per_node != 0) GTEST_SKIP() << "between nodes the host waits for messages";
  if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  for (const Executions& kind : kinds) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, kind.name);
    on_ranks([&](Context& context) { execute_behind_a_gate(context, kind.prepare); },
             {.device = test_device()});
  }
}

// As a library's factorizations.
void launch_at_once(Context& context, int launches, int calls) {
  const std::shared_ptr<ContextState>& state = context.state();
  const std::shared_ptr<devices::RunAhead> ahead = devices::RunAhead::of(*state);
  devices::RunAhead::Execution execution(*ahead, "factorize");
  for (int call = 0; call < calls; ++call) {
    state->device->launching(context.stream(), launches);
    for (int i = 0; i < launches; ++i) put_into_fake_stream(context.stream(), [] {});
  }
  execution.given(context.stream());
}

TEST(RunAhead, CallsThatLaunchHundredsOfKernelsDoNotBlock) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  for (const int launches : {130, 300, 600, 900}) {
    on_ranks(
        [&](Context& context) {
          const Execute execute = many_products(context);
          execute();
          context.synchronize();
          context.barrier();
          context.state()->options.deadline = 200ms;
          const Gate gate(context.stream());
          EXPECT_THROW(launch_at_once(context, launches, 10), Error) << launches;
        },
        {.device = test_device()});
  }
}

// One that stays away, and so many launches that wait for it.
TEST(RunAhead, APeerThatStaysAwayIsMissedWithinALongExecution) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  if (may_race()) GTEST_SKIP() << "undefined results on devices race";
  if (ranks().per_node != 0 || ranks().count < 2) GTEST_SKIP() << "needs several ranks of a node";
  ContextOptions options{.device = test_device()};
  on_ranks(
      [](Context& context) {
        const Execute execute = many_steps(context);
        execute();
        context.synchronize();
        context.barrier();
        context.state()->options.deadline = 300ms;
        const auto start = std::chrono::steady_clock::now();
        if (context.rank() == context.size() - 1) {
          std::this_thread::sleep_for(600ms);
          return;
        }
        EXPECT_THROW(
            {
              execute();
              context.synchronize();
            },
            Error);
        EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
      },
      options);
}

}  // namespace
}  // namespace partita::testing
