#include "runtime/checks/execution_history.hpp"

#include "support/test.hpp"

namespace partita {
namespace {

/// As it is in shared memory: zeros.
std::unique_ptr<runtime::ExecutionHistory> make_history() {
  return std::make_unique<runtime::ExecutionHistory>();
}

constexpr std::uint64_t kept = runtime::ExecutionHistory::reach - 1;

TEST(ExecutionHistory, KeepsTheLatestChains) {
  const auto history = make_history();
  EXPECT_EQ(history->number(), 0U);
  EXPECT_EQ(history->chain(0), std::nullopt);
  EXPECT_EQ(history->chain(1), std::nullopt);
  std::vector<std::uint64_t> chains{0};
  for (std::uint64_t number = 1; number <= 3 * runtime::ExecutionHistory::reach; ++number) {
    chains.push_back(history->begin(number % 7, "all_gather"));
    EXPECT_NE(chains.back(), chains[number - 1]);
  }
  const std::uint64_t last = history->number();
  EXPECT_EQ(last, 3 * runtime::ExecutionHistory::reach);
  for (std::uint64_t number = 1; number <= last; ++number) {
    const auto expected = number + kept > last ? std::optional<std::uint64_t>(chains[number]) : std::nullopt;
    EXPECT_EQ(history->chain(number), expected) << number;
  }
  EXPECT_EQ(history->chain(last + 1), std::nullopt);
}

TEST(ExecutionHistory, KnowsTheNamesOfTheLatest) {
  const auto history = make_history();
  for (int i = 0; i < 100; ++i) history->begin(1, i % 2 == 0 ? "scan" : "a name that is longer than most");
  EXPECT_EQ(history->operation(99), "scan");
  EXPECT_EQ(history->operation(100), "a name that is l");
  EXPECT_EQ(history->operation(1), "another operation");
}

TEST(ExecutionHistory, FindsTheFirstDifference) {
  const auto one = make_history(), other = make_history();
  EXPECT_EQ(runtime::first_difference(*one, *other), std::nullopt);
  one->begin(1, "scan");
  EXPECT_EQ(runtime::first_difference(*one, *other), std::nullopt);  // the other has not come yet
  other->begin(1, "scan");
  EXPECT_EQ(runtime::first_difference(*one, *other), std::nullopt);
  EXPECT_TRUE(one->agrees_at_once(*other));
  other->begin(2, "scan");
  for (int i = 0; i < 500; ++i) one->begin(3, "scan");  // far ahead
  EXPECT_EQ(runtime::first_difference(*one, *other), 2U);
  EXPECT_EQ(runtime::first_difference(*other, *one), 2U);
  for (int i = 0; i < 499; ++i) other->begin(3, "scan");  // alike again
  EXPECT_EQ(runtime::first_difference(*one, *other), 2U);
  EXPECT_EQ(one->number(), other->number());
  EXPECT_FALSE(one->agrees_at_once(*other));
}

// What differed so long ago that the place is forgotten still shows.
TEST(ExecutionHistory, ADifferenceNeverGoes) {
  const auto one = make_history(), other = make_history();
  one->begin(1, "scan");
  other->begin(2, "scan");
  for (std::uint64_t i = 0; i < 5 * runtime::ExecutionHistory::reach; ++i) {
    one->begin(i, "scan");
    other->begin(i, "scan");
  }
  const auto found = runtime::first_difference(*one, *other);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, one->number() - kept + 1);
}

// A chain that is read concurrently with the writer is that of its number, or none (see ThreadSanitizer).
TEST(ExecutionHistory, IsReadWhileItIsWritten) {
  const auto written = make_history(), model = make_history();
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= 20000; ++i) written->begin(i, "halo");
    done = true;
  });
  std::uint64_t modelled = 0;
  while (!done) {
    const std::uint64_t number = written->number();
    const auto found = written->chain(number);
    std::uint64_t expected = 0;
    for (; modelled < number; ++modelled) expected = model->begin(modelled + 1, "halo");
    if (found && expected != 0) {
      EXPECT_EQ(*found, expected) << number;
    }
    EXPECT_EQ(runtime::first_difference(*written, *model), std::nullopt);
  }
  writer.join();
}

}  // namespace
}  // namespace partita
