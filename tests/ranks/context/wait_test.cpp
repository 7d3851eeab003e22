// The one wait: progress, the deadline, and what it notices on the way.
#include "runtime/board/wait.hpp"

#include "support/fakes/scripted_group.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

ContextOptions with_deadline(std::chrono::milliseconds deadline) {
  return {.deadline = deadline};
}

RANK_TEST(Wait, EndsWhenReady) {
  int turns = 0;
  const runtime::WaitReason reason{.operation = "test"};
  runtime::wait_until(*context.state(), reason, [&] { return ++turns == 150; });
  EXPECT_EQ(turns, 150);
  const auto end = std::chrono::steady_clock::now() + 30ms;
  runtime::wait_until(*context.state(), reason, [&] { return std::chrono::steady_clock::now() >= end; });
}

RANK_TEST_WITH(WaitDeadline, SaysWhoWaitedForWhomAndFailsTheContext, with_deadline(200ms)) {
  // No rank may see a neighbour's failure before its own deadline: each has a separate context.
  const std::vector<int> me{context.rank()};
  Context alone = context.subgroup(me);
  runtime::WaitReason reason{.operation = "redistribute", .what = [] { return "the signal \"ready\""; }};
  reason.peer = 0;
  const std::string text =
      caught<TimeoutError>([&] { runtime::wait_until(*alone.state(), reason, [] { return false; }); });
  EXPECT_EQ(text,
            "redistribute: rank 0 waited 0.2 s for rank 0 (the signal \"ready\"); set PARTITA_DEADLINE or "
            "ContextOptions::deadline for a longer wait");
  EXPECT_TRUE(alone.failed());
  EXPECT_EQ(alone.failure(), text);
  EXPECT_ERROR(FailedContextError, alone.barrier(), text);
  EXPECT_FALSE(context.failed());
}

RANK_TEST_WITH(WaitDeadline, StartsAnewWithProgress, with_deadline(800ms)) {
  const std::vector<int> me{context.rank()};
  Context alone = context.subgroup(me);
  const runtime::WaitReason reason{.operation = "test"};
  runtime::WaitLoop loop(*alone.state(), reason);
  const auto start = std::chrono::steady_clock::now();
  auto last = start;
  while (std::chrono::steady_clock::now() - start < 1000ms) {
    loop.pause();
    if (std::chrono::steady_clock::now() - last < 50ms) continue;
    loop.progressed();
    last = std::chrono::steady_clock::now();
  }
  EXPECT_FALSE(alone.failed());
}

// Whichever message it is about, no rank can continue as if it had arrived.
RANK_TEST(Wait, AnErrorOfTheTransportFailsTheContext) {
  ScriptedGroup::Script script;
  script.progress = [] { throw Error("progress: the cable is cut"); };
  Context alone = alone_by(context, script);
  const runtime::WaitReason reason{.operation = "test"};
  const std::string text =
      caught<Error>([&] { runtime::wait_until(*alone.state(), reason, [] { return false; }); });
  EXPECT_EQ(text, "progress: the cable is cut");
  EXPECT_EQ(alone.failure(), text);
  EXPECT_ERROR(FailedContextError, alone.barrier(), text);
  EXPECT_FALSE(context.failed());
}

/// Of the rank whose thread this is: what on_wait does next.
thread_local std::function<void()>
    next_on_wait;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// A wait without end, or until so much later, of a context that no other rank is in. Its on_wait is `body`.
void wait_alone(Context& alone, std::function<void()> body,
                std::optional<std::chrono::milliseconds> time = std::nullopt) {
  next_on_wait = std::move(body);
  const auto start = std::chrono::steady_clock::now();
  const runtime::WaitReason reason{.operation = "test"};
  try {
    runtime::wait_until(*alone.state(), reason,
                        [&] { return time && std::chrono::steady_clock::now() - start >= *time; });
  } catch (...) {
    next_on_wait = nullptr;
    throw;
  }
  next_on_wait = nullptr;
}

void with_on_wait(const std::function<void(Context&)>& body) {
  ContextOptions options;
  options.on_wait = [] {
    if (next_on_wait) next_on_wait();
  };
  on_ranks(
      [&body](Context& context) {
        Context alone = context.split(context.rank()).value();
        body(alone);
        EXPECT_FALSE(context.failed());
        context.barrier();
      },
      options);
}

TEST(OnWait, IsCalledByTheThreadThatWaits) {
  with_on_wait([](Context& alone) {
    int calls = 0;
    wait_alone(
        alone, [&calls] { ++calls; }, 300ms);
    EXPECT_GE(calls, 1);
    EXPECT_LE(calls, 31);
    alone.barrier();
  });
}

TEST(OnWait, WhatItThrowsComesOutAndFailsTheContext) {
  struct Interrupted {};
  with_on_wait([](Context& alone) {
    EXPECT_THROW(wait_alone(alone, [] { throw Interrupted(); }), Interrupted);
    EXPECT_TRUE(alone.failed());
    EXPECT_ERROR(FailedContextError, alone.barrier(), "not a std::exception");
  });
}

TEST(OnWait, MustNotUseItsContext) {
  with_on_wait([](Context& alone) {
    const std::string text = caught<ArgumentError>([&] { wait_alone(alone, [&alone] { alone.barrier(); }); });
    EXPECT_EQ(text, "barrier: called by on_wait, during another call of the context");
    EXPECT_EQ(alone.failure(), text);
  });
}

RANK_TEST(WaitWatch, NoticesAFailedNeighbour) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  const bool fails = context.rank() == context.size() - 1;
  const std::string name = "rank " + std::to_string(context.size() - 1);
  context.barrier();
  if (fails) {
    // The barrier must be over everywhere: its messages may be relayed.
    std::this_thread::sleep_for(100ms);
    return context.state()->fail("it said so");
  }
  EXPECT_ERROR(LostPeerError, context.barrier(), "failed", name, "it said so");
  EXPECT_TRUE(context.failed());
}

RANK_TEST(WaitWatch, NoticesTwoRanksThatWaitForEachOtherInDifferentCalls) {
  if (ranks().count == 1 || ranks().per_node == 1) GTEST_SKIP() << "needs several ranks of a node";
  context.barrier();
  const std::string text = caught<DisagreementError>([&] {
    if (context.rank() != 0) return context.barrier();
    // Rank 0 is in the execution of a plan and waits for a signal of rank 1 after those of earlier tests.
    runtime::NodeBoard& board = *context.state()->board;
    board.begin_execution(4711, "redistribute");
    runtime::WaitReason reason{.operation = "redistribute"};
    reason.peer = 1;
    const std::uint64_t before = board.counter(1, 0);
    runtime::wait_until(*context.state(), reason, [&] { return board.counter(1, 0) > before; });
  });
  EXPECT_TRUE(
      contains(text, "the ranks called different operations: redistribute on rank 0; barrier on rank"))
      << text;
  if (ranks().per_node == 0) expect_same_text_on_all(context.rank(), text);
}

// --- two contexts, which rank 0 uses in the other order

struct TwoContexts {
  const char* name;
  bool first_executes, second_executes;  // plans that are kept; else all meet
};

class WaitOf : public ::testing::TestWithParam<TwoContexts> {};

TEST_P(WaitOf, TwoContextsInDifferentOrdersIsFoundOut) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  on_ranks(
      [](Context& first) {
        Context second = first.split(0).value();
        double one = 1, sum = 0;
        const auto call = [&](const Context& context, bool executes) {
          const View from = View::dense(&one, Dtype::f64, {1}), to = View::dense(&sum, Dtype::f64, {1});
          executes ? all_reduce(context, from, to) : context.barrier();
        };
        call(first, true);
        call(second, true);
        const auto start = std::chrono::steady_clock::now();
        const bool executes_first = GetParam().first_executes, executes_second = GetParam().second_executes;
        const std::string text = caught<DisagreementError>(
            [&] { first.rank() == 0 ? call(first, executes_first) : call(second, executes_second); });
        EXPECT_TRUE(contains(text, "the ranks use two contexts in different orders: ")) << text;
        EXPECT_TRUE(contains(text, executes_first ? "all_reduce of " : "barrier of ")) << text;
        EXPECT_TRUE(contains(text, " context on rank 0; ")) << text;
        EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
        EXPECT_TRUE(first.failed() || second.failed());
        expect_same_text_on_all(first.rank(), text);
      },
      {.device = Device::cpu()});
}

INSTANTIATE_TEST_SUITE_P(Calls, WaitOf,
                         ::testing::Values(TwoContexts{"Checks", false, false},
                                           TwoContexts{"Executions", true, true},
                                           TwoContexts{"AnExecutionAndACheck", true, false}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace partita::testing
