// Ranks that use several contexts in orders that wait for each other in a ring.
#include <algorithm>
#include <partita/collectives.hpp>

#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

enum class RingCall : std::uint8_t { check, execution, receive, send };

const char* name_of(RingCall which) {
  return which == RingCall::check       ? "barrier"
         : which == RingCall::execution ? "all_reduce"
         : which == RingCall::receive   ? "receive"
                                        : "send";
}

/// On a context; messages are for the other rank of a pair.
void make_call(RingCall which, const Context& context) {
  constexpr std::int64_t elements = 1 << 16;  // whose send waits for the receiver
  std::vector<double> numbers(elements), sums(elements);
  const View from = View::dense(numbers.data(), Dtype::f64, {elements}),
             to = View::dense(sums.data(), Dtype::f64, {elements});
  if (which == RingCall::check) return context.barrier();
  if (which == RingCall::execution) return all_reduce(context, from, to);
  if (which == RingCall::receive) return receive(context, to, 1 - context.rank());
  send(context, from, 1 - context.rank());
}

/// One context for each two ranks that follow each other in a ring of the first ranks.
class Ring {
 public:
  Ring(const Context& context, int size) : rank_(context.rank()) {
    for (int first = 0; first < size; ++first) {
      const std::vector<int> ranks{first, (first + 1) % size};
      if (rank_ == ranks[0]) next_ = context.subgroup(ranks);
      if (rank_ == ranks[1]) previous_ = context.subgroup(ranks);
    }
    in_order(RingCall::execution);  // whose plans are kept
    context.barrier();
  }
  bool has_me() const { return next_.has_value(); }
  const Context& with_next() const { return next_.value(); }
  const Context& with_previous() const { return previous_.value(); }

  /// With both neighbours, in the order of the contexts on all ranks: no rank waits for a later one.
  void in_order(RingCall which) const {
    if (!has_me()) return;
    make_call(which, rank_ == 0 ? with_next() : with_previous());
    make_call(which, rank_ == 0 ? with_previous() : with_next());
  }

 private:
  int rank_;
  std::optional<Context> next_, previous_;
};

/// The error that each rank of the ring gets, within seconds, for a call with the next one, which comes to it
/// only after its own such call.
std::string error_of_cycle(const Ring& ring, RingCall mine) {
  const auto start = std::chrono::steady_clock::now();
  std::string text = caught<DisagreementError>([&] { make_call(mine, ring.with_next()); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
  EXPECT_TRUE(ring.with_next().failed());
  return text;
}

struct CallsOfRing {
  const char* name;
  RingCall of_rank_0, of_others;
  RingCall of(int rank) const { return rank == 0 ? of_rank_0 : of_others; }
};

class Cycles : public ::testing::TestWithParam<CallsOfRing> {};

TEST_P(Cycles, OfPairsAreFoundOut) {
  if (ranks().count < 3) GTEST_SKIP() << "needs three ranks";
  on_ranks(
      [](Context& context) {
        const int size = context.size();
        const Ring ring(context, size);
        const std::string text = error_of_cycle(ring, GetParam().of(context.rank()));
        EXPECT_TRUE(contains(text, size == 3   ? "the ranks use three contexts in different orders: "
                                   : size == 4 ? "the ranks use four contexts in different orders: "
                                               : " contexts in different orders: "))
            << text;
        EXPECT_TRUE(contains(text, ", which wait for each other in a cycle; ")) << text;
        for (int rank = 0; rank < size; ++rank) {
          const auto [low, high] = std::minmax({rank, (rank + 1) % size});
          EXPECT_TRUE(contains(text, fmt::format("{} of context {} (ranks {},{}) on rank {}",
                                                 name_of(GetParam().of(rank)), rank + 1, low, high, rank)))
              << text;
        }
        expect_same_text_on_all(context.rank(), text);
        // It has failed there, too.
        EXPECT_TRUE(contains(text_of_error<Error>([&] { ring.with_previous().barrier(); }), text));
        EXPECT_FALSE(context.failed());
        context.barrier();
      },
      {.device = Device::cpu()});
}

INSTANTIATE_TEST_SUITE_P(
    Calls, Cycles,
    ::testing::Values(CallsOfRing{"Checks", RingCall::check, RingCall::check},
                      CallsOfRing{"Executions", RingCall::execution, RingCall::execution},
                      CallsOfRing{"AReceiveAndChecks", RingCall::receive, RingCall::check},
                      CallsOfRing{"ASendAndExecutions", RingCall::send, RingCall::execution},
                      CallsOfRing{"AnExecutionAndReceives", RingCall::execution, RingCall::receive},
                      CallsOfRing{"Receives", RingCall::receive, RingCall::receive}),
    [](const auto& test) { return std::string(test.param.name); });

// Who waits for a rank of the ring, and for none that waits for it, goes on with that rank.
TEST(CyclesOf, SomeRanksDoNotFailTheContextsOfOthers) {
  if (ranks().count < 4) GTEST_SKIP() << "needs four ranks";
  on_ranks(
      [](Context& context) {
        const Ring ring(context, 3);
        std::optional<Context> beside;
        if (context.rank() == 0 || context.rank() == 3) beside = context.subgroup({0, 3});
        context.barrier();
        std::string text;
        if (ring.has_me()) text = error_of_cycle(ring, RingCall::check);
        if (beside) beside->barrier();
        EXPECT_FALSE(beside && beside->failed());
        const std::vector<std::string> texts = texts_of_all(context.rank(), text);
        EXPECT_EQ(texts[1], texts[0]);
        EXPECT_EQ(texts[2], texts[0]);
        EXPECT_EQ(texts[3], "");
        context.barrier();
      },
      {.device = Device::cpu()});
}

/// All but rank 1 are in a call of all ranks, of which some wait for others that wait for rank 1; that waits
/// for rank 0.
void wait_in_a_pair_and_all(Context& context, RingCall of_all) {
  std::optional<Context> pair;
  if (context.rank() < 2) pair = context.subgroup({0, 1});
  make_call(of_all, context);
  make_call(of_all, context);
  const std::string text = caught<DisagreementError>(
      [&] { context.rank() == 1 ? pair.value().barrier() : make_call(of_all, context); });
  EXPECT_TRUE(contains(text, "the ranks use two contexts in different orders: ")) << text;
  EXPECT_TRUE(contains(text, fmt::format("{} of one context on rank", name_of(of_all)))) << text;
  EXPECT_TRUE(contains(text, "barrier of another context on rank 1")) << text;
  EXPECT_TRUE(context.failed() || context.rank() == 1);
  expect_same_text_on_all(context.rank(), text);
}

TEST(CyclesOf, AContextOfAllAndAPair) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  for (const RingCall of_all : {RingCall::check, RingCall::execution}) {
    on_ranks([of_all](Context& context) { wait_in_a_pair_and_all(context, of_all); },
             {.device = Device::cpu()});
  }
}

// Of a context that does not know those that wait in rank_zero.
TEST(CyclesOf, RankZeroAndAnotherContext) {
  if (ranks().kind == GroupKind::threads || ranks().count == 1) GTEST_SKIP() << "needs several processes";
  on_ranks(
      [](Context& context) {
        const Context other = initialize({.device = Device::cpu(), .deadline = deadline()});
        const std::string text =
            caught<DisagreementError>([&] { rank_zero(context, [&] { other.barrier(); }); });
        EXPECT_TRUE(contains(text, "the ranks use two contexts in different orders: ")) << text;
        EXPECT_TRUE(contains(text, "barrier of one context on rank 0; rank_zero of another context on rank"))
            << text;
        EXPECT_TRUE(context.failed());
        expect_same_text_on_all(context.rank(), text);
      },
      {.device = Device::cpu()});
}

// A rank that is late makes others wait for it, and those others, in the same contexts, without a cycle.
TEST(CyclesOf, WaitsForSlowRanksAreNone) {
  if (ranks().count < 3) GTEST_SKIP() << "needs three ranks";
  on_ranks(
      [](Context& context) {
        const Ring ring(context, context.size());
        for (const RingCall which : {RingCall::check, RingCall::execution}) {
          if (context.rank() == (which == RingCall::check ? 0 : 1)) std::this_thread::sleep_for(2s);
          ring.in_order(which);
        }
        // A message, which the rank behind it waits for in a call of another context.
        if (context.rank() == 0) std::this_thread::sleep_for(2s);
        if (context.rank() == 0) make_call(RingCall::send, ring.with_next());
        if (context.rank() == 1) make_call(RingCall::receive, ring.with_previous());
        ring.in_order(RingCall::check);
        EXPECT_FALSE(ring.with_next().failed() || ring.with_previous().failed());
        context.barrier();
      },
      {.device = Device::cpu()});
}

}  // namespace
}  // namespace partita::testing
