// A process that forks: the child has a copy of everything, but no part among the ranks.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

bool is_child = false;

}  // namespace
}  // namespace partita::testing

/// The leak checker's question. A child has none of its parent's threads, and so no way to what they held.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() {  // NOLINT: its name
  return partita::testing::is_child ? 1 : 0;
}

namespace partita::testing {
namespace {

constexpr int never_ended = -1;

// The exit code of a child that does this; one that does not end within 20 s is killed.
int child_code(const std::function<void()>& work) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    is_child = true;
    work();
    std::_Exit(0);
  }
  int status = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    if (::waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : never_ended;
    std::this_thread::sleep_for(10ms);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return never_ended;
}

void expect_in_order(Context& context) {
  for (int turn = 0; turn < 100; ++turn) context.barrier();
  EXPECT_FALSE(context.failed());
}

RANK_TEST(Fork, AChildThatExitsLeavesTheRanksAlone) {
  if (context.rank() == 0) {
    EXPECT_EQ(child_code([] { std::exit(0); }), 0);
  }
  expect_in_order(context);
}

RANK_TEST(Fork, AChildThatDestroysWhatItHasLeavesTheRanksAlone) {
  std::vector<int> all(static_cast<std::size_t>(context.size()));
  std::iota(all.begin(), all.end(), 0);
  std::optional<Context> group = context.subgroup(all);
  std::optional<Array> rows = zeros(*group, {7, 5}, Slab(0), Dtype::f32);
  std::optional<Array> columns = zeros(*group, {7, 5}, Slab(1), Dtype::f32);
  std::optional<Redistribute> plan(std::in_place, *group, rows->operand(), columns->operand());
  plan->execute(*rows, *columns);
  if (context.rank() == context.size() - 1) {
    EXPECT_EQ(child_code([&] {
                plan.reset();
                rows.reset();
                columns.reset();
                group.reset();
                std::exit(0);
              }),
              0);
  }
  plan->execute(*rows, *columns);
  expect_in_order(*group);
}

RANK_TEST(Fork, AChildIsRefused) {
  constexpr int refused = 5;
  const auto try_barrier = [&] {
    try {
      context.barrier();
    } catch (const FailedContextError& error) {
      if (context.failed() &&
          contains(error.what(), "a context can only be used by the process that made it"))
        std::_Exit(refused);
    }
  };
  if (context.rank() == 0) {
    EXPECT_EQ(child_code(try_barrier), refused);
  }
  expect_in_order(context);
}

}  // namespace
}  // namespace partita::testing
