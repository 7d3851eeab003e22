// Ranks that do not come: the others give up within the deadline, and say for whom they waited.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

// What a rank that gave up may have met: its own deadline, or a neighbour that gave up first.
std::string given_up(const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const TimeoutError& error) {
    return error.what();
  } catch (const LostPeerError& error) {
    return error.what();
  }
  return "";
}

ContextOptions short_deadline() {
  return {.deadline = 700ms};
}

RANK_TEST(Failure, ARankThatSaysItCanGoOnNoMore) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  const Context copy = context;  // as long as it is held nothing else would notify the others
  if (context.rank() == 1) {
    context.fail("no more input");
    context.fail("a second reason");
    EXPECT_EQ(context.failure(), "no more input");
    EXPECT_ERROR(FailedContextError, context.barrier(), "no more input");
    return;
  }
  EXPECT_ERROR(LostPeerError, context.barrier(), "no more input");
}

RANK_TEST(Failure, AClosedContextFailsNoMore) {
  std::optional<Context> group = context.split(0);
  group->close();
  group->fail("too late");
  EXPECT_FALSE(group->failed());
}

RANK_TEST_WITH(Failure, ARankThatNeverCalls, short_deadline()) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  const int absent = context.size() - 1;
  if (context.rank() == absent) {  // stays until the others have given up
    texts_of_all(absent, "");
    return;
  }
  const std::string text = given_up([&] { context.barrier(); });
  EXPECT_TRUE(contains(text, "barrier: rank ")) << text;
  if (ranks().per_node != 1) {
    EXPECT_TRUE(contains(text, "rank " + std::to_string(absent))) << text;
  }
  EXPECT_TRUE(context.failed());
  EXPECT_ERROR(FailedContextError, context.barrier(), text);
  EXPECT_ERROR(FailedContextError, context.close(), text);
  EXPECT_ERROR(FailedContextError, SymmetricMemory::allocate(context, 8), text);
  EXPECT_ERROR(FailedContextError, runtime::agree(*context.state(), "x", {}), text);
  texts_of_all(context.rank(), "");
}

RANK_TEST_WITH(Failure, ARankThatComesTooLateMeetsTheFailureToo, short_deadline()) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  if (context.rank() == 0) texts_of_all(0, "");  // when the others have given up
  const std::string text = given_up([&] {
    context.barrier();
    if (ranks().per_node == 1) context.barrier();  // the messages of one were sent before the others gave up
  });
  EXPECT_TRUE(context.failed()) << text;
  if (context.rank() != 0) texts_of_all(context.rank(), "");
}

RANK_TEST(Failure, MismatchedCallsFailAlikeAndTheContextGoesOn) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  const auto mismatched = [&] {
    if (context.rank() % 2 == 0) return context.barrier();
    static_cast<void>(SymmetricMemory::allocate(context, 8));
  };
  const std::string text = caught<DisagreementError>(mismatched);
  EXPECT_TRUE(contains(text, "the ranks called different operations: barrier on rank")) << text;
  for (const std::string& other : runtime::exchange(*context.state(), "texts", text)) EXPECT_EQ(other, text);
  const SymmetricMemory memory = SymmetricMemory::allocate(context, 8);
  context.barrier();
}

std::vector<int> all_of(const Context& context) {
  std::vector<int> all(static_cast<std::size_t>(context.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// A subgroup ends, and the context that it was made of stays. The deadline is a minute.
void expect_told(Context& context, const std::function<void(Context)>& leave, const std::string& words) {
  Context group = context.subgroup(all_of(context));
  if (context.rank() == context.size() - 1) {
    leave(std::move(group));
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_ERROR(LostPeerError, group.barrier(), words, "rank " + std::to_string(context.size() - 1));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

RANK_TEST(Failure, ARankThatLeavesItsContextIsTold) {
  if (ranks().count == 1) return;
  expect_told(
      context, [](const Context&) {}, "has left its context without closing it");
  context.barrier();
  expect_told(
      context,
      [](Context group) {
        try {
          const Context goes = std::move(group);
          throw std::runtime_error("for a test");
        } catch (const std::runtime_error&) {
        }
      },
      "has left its context by an exception");
  context.barrier();
}

RANK_TEST(Failure, WhatARankFailedOfIsToldToAll) {
  if (ranks().count == 1) return;
  expect_told(
      context, [](const Context& group) { group.state()->fail("the disk is full"); },
      "failed with: the disk is full");
  context.barrier();
}

// As the thread that monitors a device does it, while the rank's own thread is in a wait.
RANK_TEST(Failure, WhatAnotherThreadFoundFirstIsWhatTheWaitThrows) {
  if (ranks().count == 1) return;
  Context group = context.subgroup(all_of(context));
  if (context.rank() == 0) {
    std::thread beside([state = group.state()] {
      std::this_thread::sleep_for(200ms);
      state->fail_beside({runtime::ErrorKind::lost_peer, "rank 1 is lost"});
    });
    EXPECT_EQ(caught<LostPeerError>([&] { group.barrier(); }), "rank 1 is lost");
    EXPECT_EQ(group.failure(), "rank 1 is lost");
    beside.join();
  }
  context.barrier();  // no other rank comes to the other one
}

TEST(Failure, AContextMadeAfterAFailedOneWorks) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  on_ranks([](Context& context) { context.state()->fail("for a test"); }, ContextOptions{});
  on_ranks([](Context& context) { context.barrier(); }, ContextOptions{});
}

}  // namespace
}  // namespace partita::testing
