// The collective check: exchange, agree, collectively, barrier.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

std::string last_rank(const Context& context) {
  return "rank " + std::to_string(context.size() - 1);
}

bool am_last(const Context& context) {
  return context.rank() == context.size() - 1;
}

// Rank r's piece in round k: sizes from nothing to several thousand bytes.
std::string piece(int rank, int round) {
  const auto bytes = static_cast<std::size_t>((rank * 977 + round * 131) % 5003 * (round % 3));
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i)
    text[i] = static_cast<char>(rank * 31 + round + static_cast<int>(i));
  return text;
}

RANK_TEST(Exchange, GivesEveryRankAllPieces) {
  for (int round = 0; round < 20; ++round) {
    const auto pieces = runtime::exchange(*context.state(), "exchange", piece(context.rank(), round));
    ASSERT_EQ(pieces.size(), static_cast<std::size_t>(context.size()));
    for (int rank = 0; rank < context.size(); ++rank) {
      EXPECT_EQ(pieces[static_cast<std::size_t>(rank)], piece(rank, round)) << rank << " in round " << round;
    }
  }
}

RANK_TEST(Exchange, OfNothing) {
  for (const std::string& text : runtime::exchange(*context.state(), "exchange", "")) EXPECT_EQ(text, "");
}

RANK_TEST(Exchange, OfOneRankOnly) {
  const std::string mine = am_last(context) ? std::string(100000, 'x') : "";
  const auto pieces = runtime::exchange(*context.state(), "exchange", mine);
  EXPECT_EQ(pieces.back(), std::string(100000, 'x'));
  if (context.size() > 1) {
    EXPECT_EQ(pieces.front(), "");
  }
}

RANK_TEST(Agree, IsSilentWhenAllAgree) {
  const std::vector<Fact> facts{{"shape", "8x8"}, {"dtype", "f64"}};
  for (int i = 0; i < 50; ++i) runtime::agree(*context.state(), "redistribute", facts);
  runtime::agree(*context.state(), "nothing to compare", {});
}

RANK_TEST(Agree, NamesTheRanksAndBothValues) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  const std::vector<Fact> facts{{"dtype", "f64"}, {"shape", am_last(context) ? "8x9" : "8x8"}};
  const std::string text =
      caught<DisagreementError>([&] { runtime::agree(*context.state(), "redistribute", facts); });
  const std::string others = context.size() == 2   ? "rank 0"
                             : context.size() == 3 ? "ranks 0,1"
                                                   : "ranks 0-" + std::to_string(context.size() - 2);
  EXPECT_EQ(text,
            "redistribute: the ranks disagree on shape: 8x8 on " + others + "; 8x9 on " + last_rank(context));
  EXPECT_FALSE(context.failed());
  context.barrier();
}

RANK_TEST(Agree, NamesFactsThatSomeRanksLack) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  std::vector<Fact> facts;
  if (am_last(context)) facts.push_back({"axis", "1"});
  EXPECT_ERROR(DisagreementError, runtime::agree(*context.state(), "fft", facts), "axis: nothing on rank",
               "1 on " + last_rank(context));
}

RANK_TEST(Agree, TellsDifferentOperationsApart) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  const std::string text = caught<DisagreementError>([&] {
    if (am_last(context)) return context.barrier();
    if (context.rank() == 0)
      return static_cast<void>(runtime::exchange(*context.state(), "gather", "some bytes"));
    runtime::agree(*context.state(), "redistribute", {});
  });
  EXPECT_TRUE(contains(text, "the ranks called different operations: gather on rank 0; ")) << text;
  EXPECT_TRUE(contains(text, "barrier on " + last_rank(context))) << text;
  // The same text on every rank, and the context can still be used.
  for (const std::string& other : runtime::exchange(*context.state(), "exchange", text))
    EXPECT_EQ(other, text);
}

template <class Failure, class Throw>
void expect_to_travel(Context& context, Throw&& throw_it) {
  const std::string text = caught<Failure>([&] {
    runtime::collectively(*context.state(), "work", [&]() -> std::vector<Fact> {
      if (am_last(context)) throw_it();
      return {};
    });
  });
  EXPECT_TRUE(contains(text, "sorry")) << text;
  if (context.size() > 1) {
    EXPECT_EQ(text.substr(0, 8), last_rank(context) + ": ");
  }
  if (context.size() == 1) {
    EXPECT_EQ(text, "sorry");
  }
}

RANK_TEST(Collectively, ThrowsTheErrorOfOneRankOnAll) {
  expect_to_travel<ArgumentError>(context, [] { throw ArgumentError("sorry"); });
  expect_to_travel<DisagreementError>(context, [] { throw DisagreementError("sorry"); });
  expect_to_travel<UnsupportedError>(context, [] { throw UnsupportedError("sorry"); });
  expect_to_travel<MemoryError>(context, [] { throw MemoryError("sorry"); });
  expect_to_travel<FileError>(context, [] { throw FileError("sorry"); });
  expect_to_travel<TimeoutError>(context, [] { throw TimeoutError("sorry"); });
  expect_to_travel<LostPeerError>(context, [] { throw LostPeerError("sorry"); });
  expect_to_travel<FailedContextError>(context, [] { throw FailedContextError("sorry"); });
  expect_to_travel<Error>(context, [] { throw Error("sorry"); });
  expect_to_travel<Error>(context, [] { throw std::runtime_error("sorry"); });
  context.barrier();
}

RANK_TEST(Collectively, TakesTheLowestRankAndNamesNoneIfAllThrewAlike) {
  const auto throw_on_all = [&](const std::string& text) {
    return caught<ArgumentError>([&] {
      runtime::collectively(*context.state(), "work",
                            [&]() -> std::vector<Fact> { throw ArgumentError(text); });
    });
  };
  EXPECT_EQ(throw_on_all("bad shape"), "bad shape");
  const std::string different = throw_on_all("bad on " + std::to_string(context.rank()));
  EXPECT_EQ(different, context.size() == 1 ? "bad on 0" : "rank 0: bad on 0");
  EXPECT_EQ(caught<MemoryError>([&] {
              runtime::collectively(*context.state(), "work",
                                    []() -> std::vector<Fact> { throw std::bad_alloc(); });
            }),
            "out of memory (std::bad_alloc)");
}

RANK_TEST(Barrier, HoldsBackUntilAllHaveCome) {
  static std::atomic<int> came{0};
  for (int round = 0; round < 20; ++round) {
    if (ranks().kind == GroupKind::threads) came.fetch_add(1);
    context.barrier();
    if (ranks().kind == GroupKind::threads) {
      EXPECT_EQ(came.load() % context.size(), 0);
    }
    context.barrier();
  }
}

}  // namespace
}  // namespace partita::testing
