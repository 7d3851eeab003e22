// Ranks of a node read each other's ordinary memory through the kernel.
#include "memory/cross_memory.hpp"

#include <cerrno>

#include "support/models/random_redistribution.hpp"
#include "support/on_ranks.hpp"
#include "support/watched_reads.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it ends the test
#define NEEDS_CROSS_MEMORY(context)        \
  if (has_devices() || !may_pull(context)) \
  GTEST_SKIP() << "ranks do not read each other's ordinary memory here"

ContextOptions ends_soon() {
  return {.deadline = 20s};
}

/// Rows of 40 kB and an odd number of them.
struct PulledArrays {
  Array source, destination;

  explicit PulledArrays(const Context& context)
      : source(made(context, Slab(0))), destination(made(context, Slab(1))) {}
  static Array made(const Context& context, const Distribution& distribution) {
    const Shape shape{2 * context.size() + 1, context.size() * std::int64_t{10001}};
    return empty(context, shape, distribution, Dtype::f32,
                 {.residency = Residency::ordinary, .space = MemorySpace::host});
  }
};

// --- what it is for

RANK_TEST(CrossMemory, CarriesArraysThatMove) {
  NEEDS_CROSS_MEMORY(context);
  const PulledArrays first(context);
  Redistribute plan(context, first.source.operand(), first.destination.operand());
  EXPECT_TRUE(contains(plan.plan().method, "pulled")) << plan.plan().method;
  EXPECT_TRUE(contains(plan.explain(), "the kernel copies it")) << plan.explain();
  std::vector<PulledArrays> kept;
  for (int round = 0; round < 5; ++round) {
    kept.emplace_back(context);
    PulledArrays& arrays = kept.back();
    write_known(arrays.source, round);
    plan.execute(arrays.source, arrays.destination);
    write_constant(arrays.source, 1);
    EXPECT_EQ(count_wrong(arrays.destination, arrays.source.layout(), {}, round), 0);
  }
}

RANK_TEST(CrossMemory, CarriesThoseOfSubgroups) {
  NEEDS_CROSS_MEMORY(context);
  std::vector<int> backwards(static_cast<std::size_t>(context.size()));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const Context group = context.subgroup(backwards);
  PulledArrays arrays(group);
  write_known(arrays.source);
  Redistribute plan(group, arrays.source.operand(), arrays.destination.operand());
  EXPECT_TRUE(contains(plan.plan().method, "pulled")) << plan.plan().method;
  plan.execute(arrays.source, arrays.destination);
  EXPECT_EQ(count_wrong(arrays.destination, arrays.source.layout()), 0);
}

// --- collectives

using Bytes = std::vector<unsigned char>;

unsigned char byte_of(std::int64_t i, int rank, int round) {
  return static_cast<unsigned char>(i * 7 + i / 256 + rank * 41 + round * 13);
}

Bytes bytes_of(std::int64_t count, int rank, int round) {
  Bytes result(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) result[static_cast<std::size_t>(i)] = byte_of(i, rank, round);
  return result;
}

View whole_view(Bytes& bytes) {
  return View::dense(bytes.data(), Dtype::u8, {static_cast<std::int64_t>(bytes.size())});
}

/// This much of each part of a call is copied by the kernel.
constexpr std::int64_t part_bytes = 290'003;

/// How often the kernel is asked while `call` runs.
int reads_of(const std::function<void()>& call) {
  int reads = 0;
  const WatchedReads watched([&](const CrossRead& read) {
    ++reads;
    return read.by_the_kernel();
  });
  call();
  return reads;
}

/// Whether this rank reads that one's memory.
bool reads_from(const Context& context, int rank) {
  return rank != context.rank() && context.topology().same_node(rank, context.rank());
}

int neighbours_of(const Context& context) {
  int count = 0;
  for (int rank = 0; rank < context.size(); ++rank) count += reads_from(context, rank) ? 1 : 0;
  return count;
}

void gather_and_scatter(const Context& context, int round) {
  const int ranks = context.size(), rank = context.rank();
  Bytes mine = bytes_of(part_bytes, rank, round), all(static_cast<std::size_t>(part_bytes * ranks));
  const int gathered = reads_of([&] { all_gather(context, whole_view(mine), whole_view(all)); });
  EXPECT_EQ(gathered, neighbours_of(context));
  std::fill(mine.begin(), mine.end(), std::uint8_t{0});
  for (int r = 0; r < ranks; ++r) {
    const Bytes wanted = bytes_of(part_bytes, r, round);
    EXPECT_EQ(std::memcmp(all.data() + r * part_bytes, wanted.data(), wanted.size()), 0) << "from rank " << r;
  }
  Bytes back(static_cast<std::size_t>(part_bytes));
  const int scattered = reads_of([&] { scatter(context, whole_view(all), whole_view(back), ranks - 1); });
  EXPECT_EQ(scattered, reads_from(context, ranks - 1) ? 1 : 0);
  EXPECT_EQ(back, bytes_of(part_bytes, rank, round));
}

RANK_TEST(CrossMemory, CarriesGathersAndScatters) {
  NEEDS_CROSS_MEMORY(context);
  for (int round = 0; round < 3; ++round) gather_and_scatter(context, round);
}

RANK_TEST(CrossMemory, CarriesUnequalAndEmptyParts) {
  NEEDS_CROSS_MEMORY(context);
  std::vector<std::int64_t> counts;
  for (int r = 0; r < context.size(); ++r) counts.push_back(r == 1 ? 0 : part_bytes + 17 * r);
  const std::int64_t all_of_it = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  Bytes mine = bytes_of(counts[static_cast<std::size_t>(context.rank())], context.rank(), 0);
  Bytes all(static_cast<std::size_t>(all_of_it)), wanted;
  all_gather_v(context, whole_view(mine), whole_view(all), counts);
  for (int r = 0; r < context.size(); ++r) {
    const Bytes theirs = bytes_of(counts[static_cast<std::size_t>(r)], r, 0);
    wanted.insert(wanted.end(), theirs.begin(), theirs.end());
  }
  EXPECT_EQ(all, wanted);
}

// What is sent is overwritten as soon as the call is over, and each rank comes when it comes.
RANK_TEST(CrossMemory, AllToAllOfWhatIsOverwrittenAtOnce) {
  NEEDS_CROSS_MEMORY(context);
  const int ranks = context.size(), rank = context.rank();
  constexpr std::int64_t length = 140'009;
  std::mt19937 random(static_cast<unsigned>(pairs_seed() + rank));
  Bytes sent(static_cast<std::size_t>(length * ranks)), received(sent.size());
  for (int round = 0; round < 1000; ++round) {
    for (int q = 0; q < ranks; ++q) {
      std::fill_n(sent.begin() + q * length, length, byte_of(q, rank, round));
    }
    if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    const int reads = reads_of([&] { all_to_all(context, whole_view(sent), whole_view(received)); });
    ASSERT_EQ(reads, neighbours_of(context));
    std::fill(sent.begin(), sent.end(), 0);
    for (int p = 0; p < ranks; ++p) {
      const Bytes wanted(static_cast<std::size_t>(length), byte_of(rank, p, round));
      ASSERT_EQ(std::memcmp(received.data() + p * length, wanted.data(), wanted.size()), 0)
          << "round " << round << ", from rank " << p;
    }
  }
}

RANK_TEST(CrossMemory, BroadcastsFromEveryRoot) {
  NEEDS_CROSS_MEMORY(context);
  for (int root = 0; root < context.size(); ++root) {
    Bytes bytes = bytes_of(3 * part_bytes, context.rank(), root);
    const int reads = reads_of([&] { broadcast(context, whole_view(bytes), root); });
    EXPECT_EQ(reads, reads_from(context, root) ? 1 : 0);
    EXPECT_EQ(bytes, bytes_of(3 * part_bytes, root, root));
  }
}

// Every second byte: no peer knows where they are.
RANK_TEST(CrossMemory, LeavesStridedViewsToSharedBuffers) {
  NEEDS_CROSS_MEMORY(context);
  const int ranks = context.size(), rank = context.rank();
  Bytes spread(static_cast<std::size_t>(2 * part_bytes)), all(static_cast<std::size_t>(part_bytes * ranks));
  for (std::int64_t i = 0; i < part_bytes; ++i) spread[static_cast<std::size_t>(2 * i)] = byte_of(i, rank, 0);
  const View strided{spread.data(), Dtype::u8, {part_bytes}, {2}, MemorySpace::host};
  EXPECT_EQ(reads_of([&] { all_gather(context, strided, whole_view(all)); }), 0);
  for (int r = 0; r < ranks; ++r) {
    const Bytes wanted = bytes_of(part_bytes, r, 0);
    EXPECT_EQ(std::memcmp(all.data() + r * part_bytes, wanted.data(), wanted.size()), 0) << "from rank " << r;
  }
}

// --- where it may not be

TEST(CrossMemory, IsNotUsedWhereItIsOff) {
  ContextOptions options = ends_soon();
  options.cross_memory = CrossMemory::off;
  on_ranks(
      [](Context& context) {
        EXPECT_EQ(context.state()->cross_memory, nullptr);
        if (context.size() == 1 || context.state()->default_space() == MemorySpace::device) return;
        PulledArrays arrays(context);
        write_known(arrays.source);
        Redistribute plan(context, arrays.source.operand(), arrays.destination.operand());
        EXPECT_FALSE(contains(plan.plan().method, "pulled"));
        EXPECT_EQ(reads_of([&] { plan.execute(arrays.source, arrays.destination); }), 0);
        EXPECT_EQ(count_wrong(arrays.destination, arrays.source.layout()), 0);
      },
      options);
}

RANK_TEST(CrossMemory, OneRankThatTheKernelRefusesIsEnough) {
  NEEDS_CROSS_MEMORY(context);
  EXPECT_NE(memory::CrossMemory::connect(*context.state()), nullptr);
  const bool refused = context.rank() == context.size() - 1;
  const WatchedReads watched([refused](const CrossRead& read) -> ssize_t {
    if (!refused) return read.by_the_kernel();
    errno = EPERM;
    return -1;
  });
  EXPECT_EQ(memory::CrossMemory::connect(*context.state()), nullptr);
}

// --- errors in the middle

/// What rank 1 reports when the kernel answers so.
template <class Failure>
void expect_told(Context& context, std::function<ssize_t(const CrossRead&)> answer,
                 const std::vector<std::string>& parts) {
  NEEDS_CROSS_MEMORY(context);
  PulledArrays arrays(context);
  write_known(arrays.source);
  Redistribute plan(context, arrays.source.operand(), arrays.destination.operand());
  const auto execute = [&] { plan.execute(arrays.source, arrays.destination); };
  std::string text;
  if (context.rank() == 1) {
    const WatchedReads watched(std::move(answer));
    text = caught<Failure>(execute);
  } else {  // it waits until rank 1 is done
    text = caught<LostPeerError>(execute);
    EXPECT_TRUE(contains(text, "rank 1 failed with: ")) << text;
  }
  for (const std::string& said : parts) EXPECT_TRUE(contains(text, said)) << text;
  EXPECT_TRUE(context.failed());
}

RANK_TEST_WITH(CrossMemory, ARefusedReadFailsTheContext, ends_soon()) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  const auto refuse = [](const CrossRead&) -> ssize_t {
    errno = EPERM;
    return -1;
  };
  expect_told<Error>(context, refuse,
                     {"redistribute: rank 1 cannot read the memory of rank 0 (process ",
                      "): Operation not permitted (process_vm_readv)"});
}

RANK_TEST_WITH(CrossMemory, AShortReadFailsTheContext, ends_soon()) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  const auto shorten = [](const CrossRead& read) { return read.by_the_kernel() / 2; };
  expect_told<Error>(context, shorten, {"rank 1 cannot read the memory of rank 0", "Bad address"});
}

RANK_TEST_WITH(CrossMemory, AnotherProcessIsNotTakenForAPeer, ends_soon()) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  const auto of_a_stranger = [](const CrossRead& read) {
    const ssize_t got = read.by_the_kernel();
    static_cast<char*>(read.to.back().iov_base)[3] ^= 1;
    return got;
  };
  expect_told<LostPeerError>(context, of_a_stranger, {"rank 0 (process ", ") has ended while rank 1 read"});
}

RANK_TEST_WITH(CrossMemory, AProcessThatIsGoneIsALostPeer, ends_soon()) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  const auto gone = [](const CrossRead&) -> ssize_t {
    errno = ESRCH;
    return -1;
  };
  expect_told<LostPeerError>(context, gone, {"rank 0 (process ", ") has ended while rank 1 read"});
}

thread_local bool has_had_enough = false;

/// Rank 0 gives up, and reuses its memory, after rank 1 has been notified that it may read it. What
/// rank 1 then has from there must not look like a result.
void give_up_while_being_read(Context& context) {
  NEEDS_CROSS_MEMORY(context);
  PulledArrays arrays(context);
  Redistribute plan(context, arrays.source.operand(), arrays.destination.operand());
  const runtime::NodeBoard& board = *context.state()->board;
  const WatchedReads watched([&](const CrossRead& read) {
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (context.rank() == 1 && !board.status(0).failed && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(1ms);
    return read.by_the_kernel();
  });
  has_had_enough = context.rank() == 0;
  const std::string text =
      context.rank() == 0 ? caught<Error>([&] { plan.execute(arrays.source, arrays.destination); })
                          : caught<LostPeerError>([&] { plan.execute(arrays.source, arrays.destination); });
  has_had_enough = false;
  write_constant(arrays.source, 1);
  EXPECT_TRUE(contains(text, "rank 0 has had enough")) << text;
}

TEST(CrossMemory, WhatARankGaveThatHasGivenUpIsNotBelieved) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  ContextOptions options = ends_soon();
  options.on_wait = [] {
    if (has_had_enough) throw Error("rank 0 has had enough");
  };
  on_ranks(give_up_while_being_read, options);
}

}  // namespace
}  // namespace partita::testing
