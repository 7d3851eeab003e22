// What keeps one rank from a collective call, thrown by all.
#include "support/on_ranks.hpp"
#include "support/withdrawal.hpp"

namespace partita::testing {
namespace {

bool refuses(const Context& context) {
  return context.rank() == context.size() - 1;
}

std::string who_refuses(const Context& context) {
  return context.size() == 1 ? "" : "rank " + std::to_string(context.size() - 1) + ": ";
}

/// What this rank cannot do, reported to all.
template <class Failure>
void refuse_here(const Context& context, const char* operation, const std::string& text) {
  try {
    throw Failure(text);
  } catch (const std::exception&) {
    throw_on_all(context, operation);
  }
}

RANK_TEST(Refusal, IsThrownInWhateverTheOthersComeTo) {
  const std::string name = context.size() == 1 ? "sorry" : who_refuses(context) + "sum: sorry";
  for (int turn = 0; turn < 3; ++turn) {
    const std::string text = caught<UnsupportedError>([&] {
      if (refuses(context)) refuse_here<UnsupportedError>(context, "sum", "sorry");
      if (turn == 0) context.barrier();
      if (turn == 1) runtime::exchange(*context.state(), "gather", "some bytes");
      if (turn == 2) context.collect();
    });
    EXPECT_EQ(text, name);
    EXPECT_FALSE(context.failed());
    context.barrier();
  }
}

RANK_TEST(Refusal, OfAllNamesNoRankAndSaysTheOperationOnce) {
  const std::string text =
      caught<ArgumentError>([&] { refuse_here<ArgumentError>(context, "sum", "sum: sorry"); });
  EXPECT_EQ(text, "sum: sorry");
  if (context.size() == 1) return;  // it stays a std::out_of_range there
  const std::string other = caught<Error>([&] { refuse_here<std::out_of_range>(context, "sum", "sorry"); });
  EXPECT_EQ(other, "sum: sorry");
}

RANK_TEST(Refusal, WithTheTextOfThePreviousOneIsToldToo) {
  for (const bool of_all : {true, false, false, true, false}) {
    const std::string text = caught<ArgumentError>([&] {
      if (of_all || refuses(context)) refuse_here<ArgumentError>(context, "sum", "sum: sorry");
      context.barrier();
    });
    EXPECT_EQ(text, of_all || context.size() == 1 ? "sum: sorry" : who_refuses(context) + "sum: sorry");
  }
  context.barrier();
}

RANK_TEST(Refusal, IsToldOnceOnItsWayThroughHandlers) {
  const std::string text = caught<ArgumentError>([&] {
    try {
      if (refuses(context)) refuse_here<ArgumentError>(context, "sum", "sorry");
      context.barrier();
    } catch (const Error&) {
      throw_on_all(context, "more");
    }
  });
  EXPECT_EQ(text, context.size() == 1 ? "sorry" : who_refuses(context) + "sum: sorry");
  context.barrier();
}

RANK_TEST(Refusal, IsAnExceptionThatTheCallerHands) {
  const std::string text = caught<UnsupportedError>([&] {
    const std::exception_ptr error = std::make_exception_ptr(UnsupportedError("sum: sorry"));
    if (refuses(context)) throw_on_all(context, "sum", error);
    context.barrier();
  });
  EXPECT_EQ(text, who_refuses(context) + "sum: sorry");
  EXPECT_EQ(caught<ArgumentError>([&] { throw_on_all(context, "sum"); }),
            "throw_on_all: there is no exception: call it in an exception handler");
  context.barrier();
}

RANK_TEST(Refusal, ThrowsWhatAllThrowAsItIs) {
  const std::string text = caught<DisagreementError>([&] {
    try {
      runtime::collectively(*context.state(), "work",
                            []() -> std::vector<Fact> { throw DisagreementError("no"); });
    } catch (const Error&) {
      throw_on_all(context, "more");
    }
  });
  EXPECT_EQ(text, "no");
  context.barrier();
}

RANK_TEST(Refusal, IsToldAgainWhereOneRankHasTheErrorThatAllHadBefore) {
  const std::string text =
      caught<ArgumentError>([&] { refuse_here<ArgumentError>(context, "sum", "sum: sorry"); });
  EXPECT_EQ(text, "sum: sorry");
  EXPECT_EQ(caught<ArgumentError>([&] { refuse_here<ArgumentError>(context, "sum", "sum: sorry"); }), text);
  const std::string again = caught<ArgumentError>([&] {
    if (refuses(context)) refuse_here<ArgumentError>(context, "sum", "sum: sorry");
    context.barrier();
  });
  EXPECT_EQ(again, who_refuses(context) + "sum: sorry");
  context.barrier();
}

RANK_TEST(Refusal, ComparesFactsOfCallersOnAllRanks) {
  agree(context, "call", [] { return std::vector<Fact>{{"shape", "3"}}; });
  if (context.size() == 1) return;
  const bool odd = refuses(context);
  EXPECT_ERROR(DisagreementError,
               agree(context, "call",
                     [&] {
                       return std::vector<Fact>{{"shape", odd ? "4" : "3"}};
                     }),
               "call: the ranks disagree on shape: 3 on rank");
  EXPECT_ERROR(ArgumentError,
               agree(context, "call",
                     [&] {
                       if (odd) throw ArgumentError("not here");
                       return std::vector<Fact>{{"shape", "3"}};
                     }),
               who_refuses(context), "not here");
  EXPECT_FALSE(context.failed());
  context.barrier();
}

RANK_TEST(Refusal, LeavesDifferentCallsOfTheOthersADisagreement) {
  if (context.size() < 3) GTEST_SKIP() << "needs two others";
  const std::string text = caught<DisagreementError>([&] {
    if (refuses(context)) refuse_here<ArgumentError>(context, "sum", "sorry");
    if (context.rank() == 0) return context.barrier();
    static_cast<void>(runtime::exchange(*context.state(), "gather", "some bytes"));
  });
  EXPECT_TRUE(contains(text, "the ranks called different operations: barrier on rank 0; ")) << text;
  EXPECT_TRUE(contains(text, "sorry")) << text;
}

// What a rank does by itself ends with it: the others are in the same call, and not one further.
RANK_TEST(Refusal, IsHeardByThoseThatListen) {
  for (int turn = 0; turn < 2; ++turn) {
    const std::string text = caught<ArgumentError>([&] {
      if (refuses(context)) refuse_here<ArgumentError>(context, "work", "sorry");
      listen_to_all(context, "work");
    });
    EXPECT_EQ(text, context.size() == 1 ? "sorry" : who_refuses(context) + "work: sorry");
    listen_to_all(context, "work");
  }
}

// The others had made room for the plan of their call.
RANK_TEST_WITH(Refusal, LeavesAllRanksTheSamePlans,
               {.deadline = std::chrono::seconds(20), .plan_cache_size = 2}) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  std::vector<double> mine{1, 2, 3, 4}, sums(4);
  const auto sum_of = [&](std::int64_t elements) {
    View source = view(mine), destination = view(sums);
    source.extents = destination.extents = {elements};
    all_reduce(context, source, destination);
  };
  sum_of(1);
  sum_of(2);
  caught<UnsupportedError>([&] {
    if (refuses(context)) refuse_here<UnsupportedError>(context, "all_reduce", "sorry");
    sum_of(3);
  });
  EXPECT_FALSE(context.failed());
  for (const std::int64_t elements : {1, 2, 3, 1}) sum_of(elements);
  EXPECT_FALSE(context.failed());
}

// The others wait for this rank's part of a plan that they have: they find out, and withdraw if they can.
RANK_TEST(Refusal, IsThrownByThoseThatExecute) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  std::vector<double> mine{1, 2, 3}, sums(3);
  const View source = view(mine), destination = view(sums);
  all_reduce(context, source, destination);
  const std::string text = caught<UnsupportedError>([&] {
    if (refuses(context)) refuse_here<UnsupportedError>(context, "all_reduce", "sorry");
    all_reduce(context, source, destination);
  });
  EXPECT_EQ(text, who_refuses(context) + "all_reduce: sorry");
  expect_goes_on_where_it_can(context);
}

// The same call with other arguments is the same operation.
RANK_TEST(Refusal, OfAnotherCallOfTheSameOperationSaysSo) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  std::vector<double> mine{1, 2, 3, 4}, sums(4);
  const auto sum_of = [&](std::int64_t elements) {
    View source = view(mine), destination = view(sums);
    source.extents = destination.extents = {elements};
    all_reduce(context, source, destination);
  };
  sum_of(4);
  EXPECT_ERROR(DisagreementError, sum_of(refuses(context) ? 3 : 4), "all_reduce: the ranks disagree on ");
  expect_goes_on_where_it_can(context);
}

// The others are in a meeting of some ranks, or come to a call of all.
RANK_TEST_WITH(Refusal, IsThrownByThoseThatMakeASubgroup, {.deadline = std::chrono::seconds(20)}) {
  if (ranks().count < 3) GTEST_SKIP() << "needs three ranks";
  const std::string text = caught<ArgumentError>([&] {
    if (refuses(context)) refuse_here<ArgumentError>(context, "subgroup", "sorry");
    if (context.rank() == 0) static_cast<void>(context.subgroup({0, context.size() - 1}));
    context.barrier();
  });
  EXPECT_EQ(text, who_refuses(context) + "subgroup: sorry");
  EXPECT_TRUE(context.failed());
}

}  // namespace
}  // namespace partita::testing
