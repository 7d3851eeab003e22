// Ranks that do not come: the others give up within the deadline, and say for whom they waited.
#include <atomic>
#include <partita/context.hpp>
#include <partita/error.hpp>
#include <partita/memory.hpp>
#include <thread>

#include "ranks/caught.hpp"
#include "ranks/rank_test.hpp"
#include "runtime/agree.hpp"
#include "runtime/context_state.hpp"

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
  ContextOptions options;
  options.deadline = 700ms;
  return options;
}

TEST(Failure, ARankThatNeverCalls) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  on_ranks(
      [](Context& context) {
        const int absent = context.size() - 1;
        if (context.rank() == absent) {
          std::this_thread::sleep_for(2500ms);
          return;
        }
        const std::string text = given_up([&] { context.barrier(); });
        EXPECT_TRUE(contains(text, "barrier: rank ")) << text;
        if (ranks().per_node != 1) {
          EXPECT_TRUE(contains(text, "rank " + std::to_string(absent))) << text;
        }
        EXPECT_TRUE(context.failed());
        EXPECT_TRUE(contains(caught<FailedContextError>([&] { context.barrier(); }), text));
        EXPECT_TRUE(contains(caught<FailedContextError>([&] { context.close(); }), text));
        EXPECT_TRUE(
            contains(caught<FailedContextError>([&] { SymmetricMemory::allocate(context, 8); }), text));
        EXPECT_TRUE(contains(caught<FailedContextError>([&] { agree(*context.state(), "x", {}); }), text));
      },
      short_deadline());
}

TEST(Failure, ARankThatComesTooLateMeetsTheFailureToo) {
  if (ranks().count == 1 || ranks().per_node == 1) GTEST_SKIP() << "needs several ranks of a node";
  on_ranks(
      [](Context& context) {
        if (context.rank() == 0) std::this_thread::sleep_for(1500ms);
        const std::string text = given_up([&] { context.barrier(); });
        EXPECT_TRUE(context.failed()) << text;
      },
      short_deadline());
}

TEST(Failure, MismatchedCallsFailAlikeAndTheContextGoesOn) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  on_ranks([](Context& context) {
    const auto mismatched = [&] {
      if (context.rank() % 2 == 0) return context.barrier();
      static_cast<void>(SymmetricMemory::allocate(context, 8));
    };
    const std::string text = caught<DisagreementError>(mismatched);
    EXPECT_TRUE(contains(text, "the ranks called different operations: barrier on rank")) << text;
    for (const std::string& other : exchange(*context.state(), "texts", text)) EXPECT_EQ(other, text);
    const SymmetricMemory memory = SymmetricMemory::allocate(context, 8);
    context.barrier();
  });
}

TEST(Failure, AContextMadeAfterAFailedOneWorks) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  on_ranks([](Context& context) { context.state()->fail("for a test"); }, ContextOptions{});
  on_ranks([](Context& context) { context.barrier(); }, ContextOptions{});
}

}  // namespace
}  // namespace partita::testing
