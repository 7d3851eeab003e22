// Contexts: their making, their settings, their end.
#include "kernels/host/blas_library.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

RANK_TEST(Context, KnowsItsRanks) {
  EXPECT_EQ(context.size(), ranks().count);
  EXPECT_GE(context.threads(), 1);
  EXPECT_EQ(context.topology().ranks(), context.size());
  const auto all = runtime::exchange(*context.state(), "ranks", std::to_string(context.rank()));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], std::to_string(i));
  EXPECT_FALSE(context.failed());
  EXPECT_EQ(context.failure(), "");
}

RANK_TEST(ContextOptions, SeveralContextsLiveSideBySideAndGoInAnyOrder) {
  Context moved(std::move(context));
  moved.barrier();
  // NOLINTNEXTLINE(bugprone-use-after-move): what it says is tested
  EXPECT_ERROR(ArgumentError, context.barrier(), "moved away");
  context = std::move(moved);
  context.barrier();
}

RANK_TEST(Context, CopiesAreTheSameContext) {
  std::vector<int> all(static_cast<std::size_t>(context.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  std::optional<Context> mine = context.subgroup(all);
  Context copy = *mine;
  EXPECT_EQ(copy, *mine);
  EXPECT_FALSE(copy == context);
  mine.reset();
  copy.barrier();
  EXPECT_EQ(copy.close(), "");
}

RANK_TEST(Context, RankZeroSpeaksForAll) {
  int said = 0;
  rank_zero(context, [&] { ++said; });
  EXPECT_EQ(said, context.rank() == 0 ? 1 : 0);
  EXPECT_ERROR(FileError, rank_zero(context, [] { throw FileError("no such volume"); }), "no such volume");
  EXPECT_ERROR(Error, rank_zero(context, [] { throw std::runtime_error("somebody else's"); }),
               "somebody else's");
  EXPECT_ERROR(ArgumentError, rank_zero(context, nullptr), "no function");
  EXPECT_FALSE(context.failed());
}

// Rank 0 reports it at once, to all ranks: none waits for the deadline.
RANK_TEST(Context, RankZeroRefusesWhatWaitsForTheOthers) {
  std::vector<double> numbers(16, 1.0), sums(16);
  const View source = view(numbers), destination = view(sums);
  Array array = zeros(context, {6}, Slab(0), Dtype::f64);
  std::vector<int> all(static_cast<std::size_t>(context.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  Context same = context.subgroup(all);
  all_reduce(context, source, destination);  // those that are planned already go another way
  const auto start = std::chrono::steady_clock::now();
  const auto refused = [&](std::string_view call, const std::function<void()>& body) {
    EXPECT_ERROR_ON_ALL(ArgumentError, rank_zero(context, body),
                        std::string(call) + ": called inside rank_zero");
  };
  refused("barrier", [&] { context.barrier(); });
  refused("all_reduce", [&] { all_reduce(context, source, destination); });
  refused("redistribute", [&] { (void)redistribute(array, Replicated()); });
  refused("empty", [&] { (void)zeros(context, {6}, Slab(0), Dtype::f64); });
  refused("to_string", [&] { (void)to_string(array); });
  refused("collect", [&] { context.collect(); });
  refused("split", [&] { (void)context.split(0); });
  refused("close", [&] { context.close(); });
  refused("rank_zero", [&] { rank_zero(context, [] {}); });
  if (context.size() > 1) {
    refused("barrier", [&] { same.barrier(); });
    refused("send", [&] { send(context, source, 1); });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_FALSE(context.failed());
  all_reduce(context, source, destination);
  EXPECT_EQ(sums.front(), context.size());
  same.close();
}

RANK_TEST(Context, RankZeroMayDoWhatWaitsForNobody) {
  Array array = zeros(context, {6}, Slab(0), Dtype::f64);
  const std::optional<Context> alone = context.split(context.rank());
  rank_zero(context, [&] {
    alone->barrier();
    (void)zeros(*alone, {3}, Slab(0), Dtype::f64);
    Context made = context.subgroup({0});
    made.close();
    array += 1.0;
    context.synchronize();
  });
  // Those with whom it waits are others than those with whom it speaks.
  rank_zero(*alone, [&] { context.barrier(); });
  context.barrier();
}

TEST(ContextOptions, ThreadsAreAnOption) {
  const Setting unset("PARTITA_THREADS", "");  // which would win
  on_ranks([](Context& context) { EXPECT_EQ(context.threads(), 3); }, {.threads = 3});
}

RANK_TEST_WITH(ContextOptions, TheSizeOfThePlanCacheIsAnOption, {.plan_cache_size = 2}) {
  for (int size = 1; size < 5; ++size) {
    std::vector<double> from(static_cast<std::size_t>(size), context.rank() + 1), to(from.size());
    all_reduce(context, View::dense(from.data(), Dtype::f64, {size}),
               View::dense(to.data(), Dtype::f64, {size}));
    EXPECT_EQ(to.back(), context.size() * (context.size() + 1) / 2);
  }
  EXPECT_EQ(context.state()->plans.size(), 2U);
}

void all_reduce_ones(Context& context, std::int64_t elements) {
  std::vector<double> from(static_cast<std::size_t>(elements), 1);
  std::vector<double> to(from.size());
  all_reduce(context, View::dense(from.data(), Dtype::f64, {elements}),
             View::dense(to.data(), Dtype::f64, {elements}));
  EXPECT_EQ(to.front(), context.size());
  EXPECT_EQ(to.back(), context.size());
}

TEST(ContextOptions, TheBytesOfThePlanCacheAreAnOption) {
  ContextOptions options{.plan_cache_bytes = std::int64_t{4} << 20};
  on_ranks(
      [](Context& context) {
        const contexts::PlanCache& plans = context.state()->plans;
        constexpr int sizes = 12;
        for (int i = 0; i < sizes; ++i) {
          all_reduce_ones(context, 50'000 + i);
          // The plan of the latest call is kept, however large: between nodes one is larger than the limit.
          EXPECT_TRUE(plans.bytes() <= context.state()->options.plan_cache_bytes || plans.size() == 1)
              << plans.size() << " plans of " << plans.bytes() << " bytes";
        }
        EXPECT_GE(plans.size(), ranks().per_node == 0 ? 2U : 1U);
        expect_same_on_all(context, std::to_string(plans.size()) + " " + std::to_string(plans.bytes()));
      },
      options);
}

// 16 sizes take more than the heap may have, and so does an array in addition to the plans that are kept.
TEST(ContextOptions, PlansMakeRoomWhereMemoryIsLimited) {
  constexpr std::int64_t limit = std::int64_t{16} << 20;
  const Setting unset("PARTITA_MEMORY_LIMIT", "");  // which would win
  on_ranks(
      [](Context& context) {
        const contexts::PlanCache& plans = context.state()->plans;
        for (int i = 0; i < 16; ++i) all_reduce_ones(context, (1 << 17) + i);
        expect_same_on_all(context, std::to_string(plans.size()));
        const ArrayOptions on_host{.space = MemorySpace::host};
        const Array large = empty(context, {context.size(), limit * 7 / 64}, Slab(0), Dtype::f64, on_host);
        EXPECT_TRUE(large.valid());
        all_reduce_ones(context, 1 << 10);
        const Shape beyond{context.size(), limit / 4};
        EXPECT_ERROR_ON_ALL(MemoryError, empty(context, beyond, Slab(0), Dtype::f64, on_host),
                            "out of memory");
        expect_same_on_all(context, std::to_string(plans.size()));
      },
      {.memory_limit = limit});
}

TEST(ContextOptions, TheMachineIsAnOption) {
  on_ranks([](Context& context) {
    const char* const named = std::getenv("PARTITA_MACHINE");
    const bool on_device = context.device().kind == Device::Kind::cuda;
    EXPECT_EQ(context.machine().name, named != nullptr ? named : on_device ? "node-8-gpu" : "laptop");
  });
  on_ranks(
      [](Context& context) {
        EXPECT_EQ(context.machine().name, "cluster");
        const std::vector<int> alone{context.rank()};
        EXPECT_EQ(context.subgroup(alone).machine().name, "cluster");
      },
      {.machine = "cluster"});
}

TEST(ContextOptions, AMachineThatIsNotOneIsRefusedOnEveryRank) {
  const auto start = [](const std::string& machine) {
    ThreadGroup::run(ranks().count, [](Context&) {}, {.machine = machine});
  };
  EXPECT_ERROR(ArgumentError, start("mainframe"), "laptop");
  EXPECT_ERROR(FileError, start("/nowhere/machine.json"), "/nowhere/machine.json");
}

TEST(ContextOptions, MachinesThatDifferAreADisagreement) {
  if (ranks().count < 2) GTEST_SKIP() << "needs several ranks";
  const ThreadGroup group(2);
  std::vector<std::string> errors(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      errors[static_cast<std::size_t>(rank)] = caught<DisagreementError>([&] {
        initialize({.communicator = group.member(rank), .machine = rank == 0 ? "laptop" : "cluster"});
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(contains(errors[0], "the machine"));
  EXPECT_EQ(errors[0], errors[1]);
}

TEST(ContextOptions, BadOnesAreRefusedOnEveryRank) {
  ContextOptions options{.device = Device::cuda(1000)};
  const auto refused = [](const ContextOptions& bad) {
    // initialize throws before there is a body; a thread group hands the error on.
    return caught<ArgumentError>([&] {
      ThreadGroup::run(
          ranks().count, [](Context&) {}, bad);
    });
  };
  EXPECT_ERROR(UnsupportedError,
               ThreadGroup::run(
                   ranks().count, [](Context&) {}, options),
               "cuda");
  options = {.threads = -1};
  EXPECT_TRUE(contains(refused(options), "threads is -1"));
  options = {.deadline = std::chrono::milliseconds(0)};
  EXPECT_TRUE(contains(refused(options), "deadline is 0 ms"));
}

RANK_TEST(ContextEnd, CloseReportsWhatWasNotFreed) {
  std::vector<int> all(static_cast<std::size_t>(context.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  Context mine = context.subgroup(all);
  SymmetricMemory kept = SymmetricMemory::allocate(mine, 1000);
  { const SymmetricMemory dropped = SymmetricMemory::allocate(mine, 2000); }
  mine.collect();
  const std::string report = mine.close();
  EXPECT_TRUE(contains(report, "context_test.cpp")) << report;
  EXPECT_EQ(mine.close(), "");
  EXPECT_ERROR(ArgumentError, mine.barrier(), "closed");
  EXPECT_FALSE(context.state()->closed);
  context.barrier();
}

RANK_TEST(ContextEnd, CloseIsSilentWhenNothingIsLeft) {
  std::vector<int> all(static_cast<std::size_t>(context.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  Context mine = context.subgroup(all);
  { const SymmetricMemory dropped = SymmetricMemory::allocate(mine, 2000); }
  EXPECT_EQ(mine.close(), "");
}

// The last one to leave sends farewells to ranks that have freed their communicator. MPI gives its number to
// next one, where such a message must not be taken for one of that context.
TEST(ContextEnd, WhatArrivesAfterwardsIsNotTakenForTheNextContexts) {
  for (int turn = 0; turn < 4; ++turn) {
    on_ranks(
        [&](Context& context) {
          for (int i = 0; i < 40 * (turn + 1); ++i) context.barrier();
          std::this_thread::sleep_for(std::chrono::milliseconds(20) * context.rank());
        },
        {.deadline = std::chrono::seconds(20), .ranks_per_node = 1});
  }
}

RANK_TEST(ContextThreads, AreThoseOfBlas) {
  // Every rank is in this test, so no context ends in between; the setting is of the process.
  if (ranks().kind == GroupKind::threads && context.rank() != 0) return context.barrier();
  EXPECT_EQ(kernels::blas().threads(), context.threads());
  context.barrier();
}

}  // namespace
}  // namespace partita::testing
