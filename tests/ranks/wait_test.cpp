// The one wait: progress, the deadline, and what it notices on the way.
#include "runtime/wait.hpp"

#include <functional>
#include <optional>
#include <partita/error.hpp>
#include <thread>

#include "context/context_state.hpp"
#include "ranks/caught.hpp"
#include "ranks/rank_test.hpp"
#include "ranks/scripted_group.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

ContextOptions with_deadline(std::chrono::milliseconds deadline) {
  ContextOptions options;
  options.deadline = deadline;
  return options;
}

RANK_TEST(Wait, EndsWhenReady) {
  int turns = 0;
  const runtime::WaitReason reason{.operation = "test"};
  runtime::wait_until(*context.state(), reason, [&] { return ++turns == 150; });
  EXPECT_EQ(turns, 150);
  const auto end = std::chrono::steady_clock::now() + 30ms;
  runtime::wait_until(*context.state(), reason, [&] { return std::chrono::steady_clock::now() >= end; });
}

TEST(WaitDeadline, SaysWhoWaitedForWhomAndFailsTheContext) {
  on_ranks(
      [](Context& context) {
        // Nobody may see a neighbour's failure before its own deadline: each has a context of its own.
        const std::vector<int> me{context.rank()};
        Context alone = context.subgroup(me);
        runtime::WaitReason reason{.operation = "redistribute",
                                   .what = [] { return "the signal \"ready\""; }};
        reason.peer = 0;
        const std::string text =
            caught<TimeoutError>([&] { runtime::wait_until(*alone.state(), reason, [] { return false; }); });
        EXPECT_EQ(
            text,
            "redistribute: rank 0 waited 0.2 s for rank 0 (the signal \"ready\"); set PARTITA_DEADLINE or "
            "ContextOptions::deadline for a longer wait");
        EXPECT_TRUE(alone.failed());
        EXPECT_EQ(alone.failure(), text);
        EXPECT_TRUE(contains(caught<FailedContextError>([&] { alone.barrier(); }), text));
        EXPECT_FALSE(context.failed());
      },
      with_deadline(200ms));
}

TEST(WaitDeadline, StartsAnewWithProgress) {
  on_ranks(
      [](Context& context) {
        const std::vector<int> me{context.rank()};
        Context alone = context.subgroup(me);
        const runtime::WaitReason reason{.operation = "test"};
        runtime::WaitLoop loop(*alone.state(), reason);
        const auto start = std::chrono::steady_clock::now();
        auto last = start;
        while (std::chrono::steady_clock::now() - start < 1500ms) {
          loop.pause();
          if (std::chrono::steady_clock::now() - last < 50ms) continue;
          loop.progressed();
          last = std::chrono::steady_clock::now();
        }
        EXPECT_FALSE(alone.failed());
      },
      with_deadline(800ms));
}

// Whichever message it is about, nobody can go on as if it had come.
RANK_TEST(Wait, AnErrorOfTheTransportFailsTheContext) {
  ScriptedGroup::Script script;
  script.progress = [] { throw Error("progress: the cable is cut"); };
  Context alone = alone_by(context, script);
  const runtime::WaitReason reason{.operation = "test"};
  const std::string text =
      caught<Error>([&] { runtime::wait_until(*alone.state(), reason, [] { return false; }); });
  EXPECT_EQ(text, "progress: the cable is cut");
  EXPECT_EQ(alone.failure(), text);
  EXPECT_TRUE(contains(caught<FailedContextError>([&] { alone.barrier(); }), text));
  EXPECT_FALSE(context.failed());
}

/// Of the rank whose thread this is: what on_wait does next.
thread_local std::function<void()>
    next_on_wait;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// A wait without end, or until so much later, of a context that nobody else is in. Its on_wait is `body`.
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
    EXPECT_TRUE(contains(caught<FailedContextError>([&] { alone.barrier(); }), "not a std::exception"));
  });
}

TEST(OnWait, MustNotUseItsContext) {
  with_on_wait([](Context& alone) {
    const std::string text = caught<ArgumentError>([&] { wait_alone(alone, [&alone] { alone.barrier(); }); });
    EXPECT_EQ(text, "barrier: called by on_wait, in the midst of another call of the context");
    EXPECT_EQ(alone.failure(), text);
  });
}

TEST(WaitWatch, NoticesAFailedNeighbour) {
  if (ranks().count == 1 || ranks().per_node == 1) GTEST_SKIP() << "needs several ranks of a node";
  on_ranks([](Context& context) {
    const bool fails = context.rank() == context.size() - 1;
    const std::string name = "rank " + std::to_string(context.size() - 1);
    context.barrier();
    if (fails) {
      // The barrier must be over everywhere: its messages may be relayed.
      std::this_thread::sleep_for(100ms);
      return context.state()->fail("it said so");
    }
    const std::string text = caught<LostPeerError>([&] { context.barrier(); });
    EXPECT_TRUE(contains(text, "failed") && contains(text, name) && contains(text, "it said so")) << text;
    EXPECT_TRUE(context.failed());
  });
}

TEST(WaitWatch, NoticesTwoRanksThatWaitForEachOtherInDifferentCalls) {
  if (ranks().count == 1 || ranks().per_node == 1) GTEST_SKIP() << "needs several ranks of a node";
  on_ranks([](Context& context) {
    context.barrier();
    const std::string text = caught<DisagreementError>([&] {
      if (context.rank() != 0) return context.barrier();
      // Rank 0 is in the execution of a plan and waits for a signal of rank 1 beside those of tests before.
      runtime::NodeBoard& board = *context.state()->board;
      board.begin_execution(4711, "redistribute");
      runtime::WaitReason reason{.operation = "redistribute"};
      reason.peer = 1;
      const std::uint64_t before = board.counter(1, 0);
      runtime::wait_until(*context.state(), reason, [&] { return board.counter(1, 0) > before; });
    });
    EXPECT_EQ(text, "the ranks called different operations: redistribute on rank 0; barrier on rank 1");
  });
}

}  // namespace
}  // namespace partita::testing
