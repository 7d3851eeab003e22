// Ranks that are threads read each other's ordinary device memory in place.
#include <partita/fft.hpp>
#include <partita/matmul.hpp>
#include <partita/redistribute.hpp>
#include <random>
#include <thread>

#include "support/fakes/fake_device.hpp"
#include "support/memory_checks.hpp"
#include "support/models/random_redistribution.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it ends the test
#define NEEDS_PEER_READS(context)                  \
  NEEDS_DEVICES();                                 \
  if ((context).size() == 1 || !may_pull(context)) \
  GTEST_SKIP() << "needs several ranks that read each other's ordinary device memory"

const ArrayOptions ordinary{.residency = Residency::ordinary, .space = MemorySpace::device};

/// More than goes in packets, of uneven parts.
struct OrdinaryArrays {
  Array source, destination;

  explicit OrdinaryArrays(const Context& context)
      : source(made(context, Slab(0))), destination(made(context, Slab(1))) {}
  static Shape shape(const Context& context) { return {6 * context.size() + 1, 30'011 * context.size()}; }
  static Array made(const Context& context, const Distribution& distribution) {
    return empty(context, shape(context), distribution, Dtype::f64, ordinary);
  }
};

RANK_TEST(PeerReads, AreTheWayOfOrdinaryMemoryBetweenThreads) {
  NEEDS_PEER_READS(context);
  const OrdinaryArrays arrays(context);
  const Redistribute plan(context, arrays.source.operand(), arrays.destination.operand());
  EXPECT_EQ(plan.plan().method, "pulled") << plan.explain();
  EXPECT_TRUE(contains(plan.explain(), "reads it in place")) << plan.explain();
}

// Arrays move from one execution to the next, and what is sent is overwritten as soon as the call is over.
RANK_TEST(PeerReads, CarryArraysThatMove) {
  NEEDS_PEER_READS(context);
  std::mt19937 random(static_cast<unsigned>(pairs_seed() + context.rank()));
  const OrdinaryArrays first(context);
  Redistribute plan(context, first.source.operand(), first.destination.operand());
  std::vector<OrdinaryArrays> kept;
  for (int round = 0; round < 5; ++round) kept.emplace_back(context);
  for (int round = 0; round < 15; ++round) {
    OrdinaryArrays& arrays = kept[static_cast<std::size_t>(round % 5)];
    write_known(arrays.source, round);
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
    plan.execute(arrays.source, arrays.destination);
    write_constant(arrays.source, 1);
    ASSERT_EQ(count_wrong(arrays.destination, arrays.source.layout(), {}, round), 0) << "round " << round;
  }
}

RANK_TEST(PeerReads, FollowEachOtherInAStream) {
  NEEDS_PEER_READS(context);
  OrdinaryArrays arrays(context);
  Array back = OrdinaryArrays::made(context, Slab(0));
  write_known(arrays.source);
  for (int round = 0; round < 10; ++round) {
    redistribute_into(arrays.source, arrays.destination, {.stream = Stream{}});
    redistribute_into(arrays.destination, back, {.stream = Stream{}});
    redistribute_into(back, arrays.destination, {.stream = Stream{}});
    redistribute_into(arrays.destination, arrays.source, {.stream = Stream{}});
  }
  context.synchronize();
  EXPECT_EQ(count_wrong(arrays.source, arrays.source.layout()), 0);
}

// Hosts meet once in a call, to tell each other where arrays are, and in products not at all: device-side
// signals do the rest.
RANK_TEST(PeerReads, HostsMeetOnceInACallThatIsMadeAgain) {
  NEEDS_PEER_READS(context);
  OrdinaryArrays arrays(context);
  const std::int64_t n = 8 * context.size();
  const Array a = empty(context, {n, n}, Slab(0), Dtype::f64, ordinary);
  Array d = empty(context, {n, n}, Slab(0), Dtype::f64, ordinary);
  const MatmulOptions in_stream{.stream = Stream{}};
  const auto meetings_of = [&](const auto& call) {
    call();
    const std::uint64_t before = context.state()->agreements;
    for (int round = 0; round < 5; ++round) call();
    return context.state()->agreements - before;
  };
  write_known(arrays.source);
  EXPECT_EQ(meetings_of([&] { redistribute_into(arrays.source, arrays.destination, {.stream = Stream{}}); }),
            5U);
  EXPECT_EQ(meetings_of([&] { matmul_into(a, a, nullptr, d, in_stream); }), 5U);
  context.synchronize();
  EXPECT_EQ(count_wrong(arrays.destination, arrays.source.layout()), 0);
}

RANK_TEST(PeerReads, CarryThoseOfSubgroups) {
  NEEDS_PEER_READS(context);
  std::vector<int> backwards(static_cast<std::size_t>(context.size()));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const Context group = context.subgroup(backwards);
  OrdinaryArrays arrays(group);
  write_known(arrays.source);
  Redistribute plan(group, arrays.source.operand(), arrays.destination.operand());
  EXPECT_EQ(plan.plan().method, "pulled");
  plan.execute(arrays.source, arrays.destination);
  EXPECT_EQ(count_wrong(arrays.destination, arrays.source.layout()), 0);
}

/// A part with a gap behind each row.
Array with_gaps(const Context& context, const Layout& layout, const Array& memory) {
  View view = View::dense(memory.local().data, Dtype::f64, layout.local_shape(context.rank()));
  view.strides[0] += 3;
  view.space = MemorySpace::device;
  return wrap(context, view, layout);
}

// Of a source with gaps no peer knows the strides; a destination may have them.
RANK_TEST(PeerReads, WriteIntoPartsWithGapsAndReadNone) {
  NEEDS_PEER_READS(context);
  OrdinaryArrays arrays(context);
  const Layout columns = arrays.destination.layout(), rows = arrays.source.layout();
  const Array room =
      empty(context, {7 * context.size() + 2, 40'000 * context.size()}, Slab(1), Dtype::f64, ordinary);
  Array spread = with_gaps(context, columns, room);
  write_known(arrays.source);
  Redistribute there(context, arrays.source.operand(), spread.operand());
  EXPECT_EQ(there.plan().method, "pulled") << there.explain();
  there.execute(arrays.source, spread);
  EXPECT_EQ(count_wrong(spread, rows), 0);
  write_constant(arrays.source, 1);
  Redistribute back(context, spread.operand(), arrays.source.operand());
  EXPECT_EQ(back.plan().method, "staged") << back.explain();
  back.execute(spread, arrays.source);
  EXPECT_EQ(count_wrong(arrays.source, rows), 0);
}

// The redistributions around a transform are the same.
RANK_TEST(PeerReads, CarryArraysToATransformAndBack) {
  NEEDS_PEER_READS(context);
  const Shape shape{4 * context.size() + 1, 120, 60};
  const Distribution cyclic = BlockCyclic({context.size(), 1, 1}, {1, 1, 1});
  Array source = empty(context, shape, cyclic, Dtype::c128, ordinary);
  Array spectrum = empty(context, shape, Slab(2), Dtype::c128, ordinary);
  Array back = empty(context, shape, cyclic, Dtype::c128, ordinary);
  fill_random(source, 5);
  FFT transform(context, source.operand(), spectrum.operand());
  FFT inverse(context, spectrum.operand(), back.operand(), {.inverse = true});
  for (int round = 0; round < 3; ++round) {
    transform.execute(source, spectrum);
    inverse.execute(spectrum, back);
    EXPECT_LT(compare(back, source).largest_difference, 1e-10);
  }
}

// --- where it may not be

TEST(PeerReads, AreNotUsedWhereTheyAreOff) {
  NEEDS_DEVICES();
  ContextOptions options;
  options.cross_memory = CrossMemory::off;
  on_ranks(
      [](Context& context) {
        EXPECT_FALSE(context.state()->device_topology.has_cross_memory());
        OrdinaryArrays arrays(context);
        write_known(arrays.source);
        Redistribute plan(context, arrays.source.operand(), arrays.destination.operand());
        EXPECT_FALSE(contains(plan.plan().method, "pulled"));
        plan.execute(arrays.source, arrays.destination);
        EXPECT_EQ(count_wrong(arrays.destination, arrays.source.layout()), 0);
      },
      options);
}

TEST(PeerReads, AreNotUsedWhereDevicesCannot) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs fake devices";
  refuse_fake_reads(true);
  on_ranks([](Context& context) {
    const bool share = context.size() == context.state()->device_sharers;
    EXPECT_EQ(may_pull(context), share && context.size() > 1 && context.state()->group->in_process());
  });
  refuse_fake_reads(false);
}

// --- errors

RANK_TEST(PeerReads, MemoryThatCannotBeReadIsTheSameErrorOnAllRanks) {
  NEEDS_PEER_READS(context);
  if (!tests_fake_devices()) GTEST_SKIP() << "needs fake devices";
  OrdinaryArrays arrays(context);
  write_known(arrays.source);
  Redistribute plan(context, arrays.source.operand(), arrays.destination.operand());
  const int odd_one = context.size() - 1;
  if (context.rank() == odd_one) refuse_fake_reads_of(arrays.source.local().data);
  barrier(context);
  const std::string text = caught<UnsupportedError>([&] { plan.execute(arrays.source, arrays.destination); });
  EXPECT_TRUE(contains(
      text,
      fmt::format("redistribute: other devices cannot read the source of rank {}: a test says so", odd_one)))
      << text;
  EXPECT_TRUE(contains(text, "PARTITA_CROSS_MEMORY=off")) << text;
  barrier(context);
  if (context.rank() == odd_one) refuse_fake_reads_of(nullptr);
  barrier(context);
  plan.execute(arrays.source, arrays.destination);
  EXPECT_EQ(count_wrong(arrays.destination, arrays.source.layout()), 0);
}

RANK_TEST(PeerReads, AnArrayThatDoesNotSuitOnOneRankIsAnErrorOfAll) {
  NEEDS_PEER_READS(context);
  OrdinaryArrays arrays(context);
  write_known(arrays.source);
  Redistribute plan(context, arrays.source.operand(), arrays.destination.operand());
  const Array other = empty(context, OrdinaryArrays::shape(context), Slab(0), Dtype::f32, ordinary);
  const bool odd_one = context.rank() == 1;
  const std::string text =
      caught<ArgumentError>([&] { plan.execute(odd_one ? other : arrays.source, arrays.destination); });
  EXPECT_TRUE(contains(text, "the source is f32, but the plan was made for f64")) << text;
  plan.execute(arrays.source, arrays.destination);
  EXPECT_EQ(count_wrong(arrays.destination, arrays.source.layout()), 0);
}

// Nobody reads at the offsets of its own plan what a peer has lent for another one: parts of other sizes end
// elsewhere.
RANK_TEST(PeerReads, ARankThatExecutesAnotherPlanIsFoundBeforeAnyoneReads) {
  NEEDS_PEER_READS(context);
  OrdinaryArrays arrays(context);
  Array cyclic = OrdinaryArrays::made(context, BlockCyclic({context.size(), 1}, {2, 3}));
  write_known(arrays.source);
  Redistribute plan(context, arrays.source.operand(), arrays.destination.operand());
  Redistribute other(context, arrays.destination.operand(), cyclic.operand());
  ASSERT_EQ(plan.plan().method, "pulled");
  ASSERT_EQ(other.plan().method, "pulled");
  for (int round = 0; round < 3; ++round) {
    plan.execute(arrays.source, arrays.destination);
    other.execute(arrays.destination, cyclic);
    ASSERT_EQ(count_wrong(cyclic, arrays.source.layout()), 0);
    write_constant(arrays.destination, 7);
    const std::string text = same_error<DisagreementError>(context, [&] {
      context.rank() == 1 ? other.execute(arrays.destination, cyclic)
                          : plan.execute(arrays.source, arrays.destination);
    });
    EXPECT_TRUE(contains(text, "redistribute: the ranks disagree on source: ")) << text;
    EXPECT_FALSE(context.failed()) << "nothing has been executed";
    EXPECT_EQ(count_others(arrays.destination, 7), 0);
  }
}

// A rank that executes something else, without waiting for anyone, is found by the one that waits for its
// addresses.
RANK_TEST_WITH(PeerReads, ARankThatExecutesSomethingElseIsFound, {.deadline = std::chrono::seconds(20)}) {
  NEEDS_PEER_READS(context);
  OrdinaryArrays arrays(context);
  Redistribute plan(context, arrays.source.operand(), arrays.destination.operand());
  const Array rows = zeros(context, OrdinaryArrays::shape(context), Slab(0), Dtype::f64);
  Array columns = zeros(context, OrdinaryArrays::shape(context), Slab(1), Dtype::f64);
  Redistribute other(context, rows.operand(), columns.operand());
  ASSERT_EQ(other.plan().method, "pushed");
  const auto call = [&] {
    context.rank() == 1 ? other.execute(rows, columns) : plan.execute(arrays.source, arrays.destination);
  };
  EXPECT_THROW(call(), Error);
  EXPECT_TRUE(context.failed());
}

}  // namespace
}  // namespace partita::testing
