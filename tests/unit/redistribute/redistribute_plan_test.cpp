#include "plan/lanes.hpp"
#include "support/models/random_layouts.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using testing::RandomLayouts;

struct Case {
  Operand source;
  Operand destination;
  Topology topology;
  RedistributeOptions options;

  Plan plan(int rank) const { return plan_redistribute(source, destination, topology, rank, options); }
  std::string to_string() const {
    return source.to_string() + " -> " + destination.to_string() + ", method " +
           std::to_string(static_cast<int>(options.method)) + ", nodes " +
           std::to_string(topology.node_count()) + ", staging " + std::to_string(options.staging_bytes);
  }
};

void expect_right(const Case& test, std::uint64_t seed) {
  SCOPED_TRACE(test.to_string());
  const Planner planner = [&](int rank) { return test.plan(rank); };
  const std::uint64_t hash = planner(0).hash();
  for (int rank = 1; rank < test.topology.ranks(); ++rank) ASSERT_EQ(planner(rank).hash(), hash);
  const Verdict verdict = verify(planner, 0, 1, 1, seed);
  ASSERT_TRUE(verdict.ok()) << verdict.faults.front();
}

Topology random_topology(RandomLayouts& random, int ranks) {
  if (random.maybe(0.2)) {  // nodes of any size, their ranks anywhere
    std::vector<int> nodes;
    for (int rank = 0; rank < ranks; ++rank) nodes.push_back(random.number(0, 2));
    return Topology::of(nodes);
  }
  const int per_node[] = {0, 1, 2, 3};
  return Topology::regular(ranks, per_node[random.number(0, 3)]);
}

Operand random_operand(RandomLayouts& random, const Shape& shape, int ranks) {
  Operand result = Operand::of(random.layout(shape, ranks), Dtype::u64,
                               random.maybe() ? Order::row_major : Order::column_major,
                               random.maybe() ? Residency::heap : Residency::ordinary);
  if (!random.maybe(0.2)) return result;
  const std::vector<int> order = random.permutation(shape.size());
  for (int i = 0; i < shape.size(); ++i) result.axis_order[i] = order[static_cast<std::size_t>(i)];
  return result;
}

Case random_case(RandomLayouts& random) {
  const int dimensions = random.number(1, 4);
  const int ranks = random.number(1, 9);
  const int most[] = {0, 60, 12, 7, 4};
  const Shape shape = random.shape(dimensions, most[dimensions]);
  RedistributeOptions options;
  Shape permuted = shape;
  if (random.maybe()) {
    options.axes = random.permutation(dimensions);
    for (int i = 0; i < dimensions; ++i) permuted[i] = shape[options.axes[static_cast<std::size_t>(i)]];
  }
  Case test{random_operand(random, shape, ranks), random_operand(random, permuted, ranks),
            random_topology(random, ranks), options};
  const bool whole = !test.source.layout.partial();
  if (random.maybe()) test.topology = test.topology.with_cross_memory();
  test.options.method = random.method(
      test.source.residency == Residency::heap, test.destination.residency == Residency::heap && whole,
      test.source.residency == Residency::ordinary && whole && test.topology.has_cross_memory());
  // Small bounds force many chunks and rings that turn over.
  if (random.maybe(0.7)) test.options.staging_bytes = random.number(10, 40) * 256;
  return test;
}

TEST(RedistributePlan, AnyPairOfDistributionsByAnyMethod) {
  RandomLayouts random(20240607);
  for (int i = 0; i < 1200; ++i) {
    expect_right(random_case(random), static_cast<std::uint64_t>(i));
    if (HasFatalFailure() || HasFailure()) return;
  }
}

Operand operand(const Shape& shape, int ranks, const char* text, Residency residency = Residency::heap) {
  return Operand::of(Layout(Distribution::parse(text), shape, ranks), Dtype::u64, Order::row_major,
                     residency);
}

Case make_case(const Shape& shape, int ranks, const char* from, const char* to, int per_node = 0,
               RedistributeMethod method = RedistributeMethod::automatic, Residency source = Residency::heap,
               Residency destination = Residency::heap) {
  RedistributeOptions options{.method = method, .staging_bytes = 64 * 1024};
  return {operand(shape, ranks, from, source), operand(shape, ranks, to, destination),
          Topology::regular(ranks, per_node), options};
}

constexpr RedistributeMethod all_methods[] = {RedistributeMethod::automatic, RedistributeMethod::direct,
                                              RedistributeMethod::staged, RedistributeMethod::messages,
                                              RedistributeMethod::grouped};

TEST(RedistributePlan, ReducesInTheOrderOfContributionsByEveryMethodOnEveryTopology) {
  const char* to[] = {"slab:0", "slab:1", "replicated", "mesh:a=6:-,a", "mesh:a=2,b=3:a,-;partial=sum:b"};
  for (const RedistributeMethod method : all_methods) {
    for (const int per_node : {0, 1, 2, 4}) {
      for (const char* destination : to) {
        for (const char* source : {"mesh:x=3,y=2:y,-;partial=sum:x", "mesh:x=6:-,-;partial=max:x"}) {
          Case test = make_case({11, 13}, 6, source, destination, per_node, method);
          test.options.staging_bytes = 4096;  // many pieces
          expect_right(test, 5);
        }
      }
    }
  }
}

TEST(RedistributePlan, KeepsAPartialArrayPartialWhereTheLayoutIsTheSame) {
  const Case test = make_case({9, 7}, 4, "mesh:x=2,y=2:x,-;partial=sum:y", "mesh:x=2,y=2:x,-;partial=sum:y");
  expect_right(test, 1);
  EXPECT_EQ(test.plan(3).method, "local");
  EXPECT_EQ(test.plan(3).steps.size(), 1u);
  EXPECT_EQ(test.plan(3).buffers.size(), 2u);
}

TEST(RedistributePlan, FillsTheOtherContributionsWithTheIdentity) {
  const Case test = make_case({9, 7}, 4, "slab:0", "mesh:x=2,y=2:x,-;partial=max:y");
  expect_right(test, 1);
  ASSERT_FALSE(test.plan(1).steps.empty());
  int fills = 0;
  for (const Step& step : test.plan(1).steps) {
    if (step.kind != StepKind::fill) continue;
    ++fills;
    EXPECT_EQ(step.reduction, Reduction::max);
  }
  EXPECT_EQ(fills, 1);
}

TEST(RedistributePlan, NamesTheMethodAndSaysWhy) {
  const auto method = [](int per_node, Residency source, Residency destination) {
    const Plan plan = make_case({40, 40}, 4, "slab:0", "slab:1", per_node, RedistributeMethod::automatic,
                                source, destination)
                          .plan(2);
    EXPECT_FALSE(plan.reason.empty());
    return plan.method;
  };
  EXPECT_EQ(method(0, Residency::heap, Residency::ordinary), "direct");
  EXPECT_EQ(method(0, Residency::ordinary, Residency::heap), "pushed");
  EXPECT_EQ(method(0, Residency::ordinary, Residency::ordinary), "staged");
  EXPECT_EQ(method(1, Residency::heap, Residency::heap), "messages");
  EXPECT_EQ(method(2, Residency::heap, Residency::heap), "direct+messages");
  EXPECT_EQ(make_case({40, 40}, 4, "slab:0", "slab:0").plan(2).method, "local");
  EXPECT_EQ(make_case({40}, 1, "slab:0", "replicated").plan(0).method, "local");
  const Case reduced = make_case({40}, 4, "mesh:x=4:-;partial=sum:x", "slab:0", 0,
                                 RedistributeMethod::automatic, Residency::ordinary, Residency::heap);
  EXPECT_EQ(reduced.plan(0).method, "staged");
}

// Doubles, so that 4096 of them are a row of 32 KiB.
TEST(RedistributePlan, LongRowsOfOrdinaryMemoryAreCopiedByTheKernel) {
  const auto method = [](const Shape& shape, const char* to, bool cross_memory, int per_node = 0) {
    Case test = make_case(shape, 4, "slab:0", to, per_node, RedistributeMethod::automatic,
                          Residency::ordinary, Residency::ordinary);
    test.topology = test.topology.with_cross_memory(cross_memory);
    const Plan plan = test.plan(2);
    EXPECT_EQ(plan.method, test.plan(0).method);
    return plan.method;
  };
  EXPECT_EQ(method({16, 4 * 4096}, "slab:1", true), "pulled");
  EXPECT_EQ(method({16, 4 * 4096}, "slab:1", false), "staged");
  EXPECT_EQ(method({16, 4 * 4000}, "slab:1", true), "staged");
  EXPECT_EQ(method({16, 4096}, "replicated", true), "pulled");
  EXPECT_EQ(method({16, 4 * 4096}, "slab:1", true, 2), "pulled+messages");
  EXPECT_EQ(method({16, 4 * 4096}, "slab:1", true, 1), "messages");
  EXPECT_EQ(method({16, 4 * 4096}, "slab:0", true), "local");
}

// Rows of any length, into memory with gaps, too.
TEST(RedistributePlan, OrdinaryMemoryOfDevicesIsReadInPlace) {
  const auto method = [](auto change) {
    Case test = make_case({16, 12}, 4, "slab:0", "slab:1", 0, RedistributeMethod::automatic,
                          Residency::ordinary, Residency::ordinary);
    test.topology = test.topology.with_cross_memory();
    test.source.space = test.destination.space = MemorySpace::device;
    change(test);
    if (test.source.dense && test.destination.dense) expect_right(test, 11);
    return test.plan(1).method;
  };
  EXPECT_EQ(method([](Case&) {}), "pulled");
  EXPECT_EQ(method([](Case& test) { test.destination.dense = false; }), "pulled");
  EXPECT_EQ(method([](Case& test) { test.destination.residency = Residency::heap; }), "pushed");
  EXPECT_EQ(method([](Case& test) { test.source.dense = false; }), "staged");
  EXPECT_EQ(method([](Case& test) { test.topology = test.topology.with_cross_memory(false); }), "staged");
}

Case between_devices(const Shape& shape, int ranks, std::int64_t staging_bytes = 0) {
  Case test = make_case(shape, ranks, "slab:0", "slab:1", 0, RedistributeMethod::automatic,
                        Residency::ordinary, Residency::ordinary);
  test.source.space = test.destination.space = MemorySpace::device;
  test.options.staging_bytes = staging_bytes;
  return test;
}

// Each piece costs devices some starts; and no array needs its own size of staging.
TEST(RedistributePlan, DevicesStageLongPieces) {
  for (const int ranks : {2, 4, 8}) {
    const Plan plan = between_devices({16384, 8192}, ranks).plan(1);
    EXPECT_EQ(plan.method, "staged");
    EXPECT_LE(plan.buffers[2].bytes, std::int64_t{256} << 20) << ranks;
    EXPECT_LE(plan.steps.size(), 60U) << ranks;
  }
  const Plan small = between_devices({512, 512}, 2).plan(0);
  EXPECT_EQ(small.buffers[2].bytes, 8 * 256 * 512);
}

// A slot is filled, and what stays is copied, while another slot is read.
TEST(RedistributePlan, SlotsThatAreFilledAgainAreALaneOfTheirOwn) {
  const Case test = between_devices({64, 48}, 2, 4096);
  expect_right(test, 12);
  const Plan plan = test.plan(1);
  const std::vector<int> lanes = planning::lanes_of(plan);
  int filled = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.kind != StepKind::copy) continue;
    const bool fills = step.to.buffer == 2;
    filled += fills ? 1 : 0;
    const int expected = fills                         ? planning::pushing
                         : step.from.rank != plan.rank ? planning::in_order
                                                       : planning::keeping;
    EXPECT_EQ(lanes[i], expected) << i;
    EXPECT_EQ(lanes[i + 1] == planning::pushing, fills) << i;
  }
  EXPECT_GT(filled, 2);
  const Planner planner = [&](int rank) { return test.plan(rank); };
  EXPECT_TRUE(verify(planner).ok());
  const Plan once = between_devices({64, 48}, 2).plan(1);
  EXPECT_TRUE(
      std::ranges::all_of(planning::lanes_of(once), [](int lane) { return lane == planning::in_order; }));
}

TEST(RedistributePlan, StridedMemoryIsNotTouchedByPeers) {
  Case test = make_case({40, 40}, 4, "slab:0", "slab:1");
  test.source.dense = false;
  EXPECT_EQ(test.plan(0).method, "pushed");
  test.destination.dense = false;
  EXPECT_EQ(test.plan(0).method, "staged");
}

TEST(RedistributePlan, ReadsTheReplicaOnItsOwnNode) {
  const Case test = make_case({64}, 8, "mesh:x=2,y=4:y", "slab:0", 4);
  for (int rank = 0; rank < 8; ++rank) EXPECT_EQ(traffic(test.plan(rank)).network_bytes, 0) << rank;
  expect_right(test, 3);
}

TEST(RedistributePlan, StaysWithinTheBoundOnScratch) {
  for (const RedistributeMethod method :
       {RedistributeMethod::staged, RedistributeMethod::messages, RedistributeMethod::grouped}) {
    for (const int per_node : {0, 3}) {
      Case test = make_case({90, 100}, 9, "slab:0", "slab:1", per_node, method);
      test.options.staging_bytes = 6000;
      std::int64_t bytes = 0;
      for (const Buffer& buffer : test.plan(4).buffers) bytes += buffer.bytes;
      EXPECT_GT(bytes, 0);
      EXPECT_LE(bytes, 6000);
      expect_right(test, 4);
    }
  }
}

TEST(RedistributePlan, SmallArraysHaveLittleScratch) {
  Case test = make_case({10, 10}, 4, "slab:0", "slab:1", 1);
  test.options.staging_bytes = 0;
  EXPECT_LE(test.plan(0).buffers.back().bytes, 64 * 1024);
}

TEST(RedistributePlan, MoreRanksThanRowsAndEmptyArrays) {
  for (const RedistributeMethod method : all_methods) {
    expect_right(make_case({3, 50}, 9, "slab:0", "slab:1", 4, method), 7);
    expect_right(make_case({0, 50}, 9, "slab:0", "slab:1", 4, method), 8);
  }
  EXPECT_TRUE(make_case({0, 50}, 9, "slab:0", "slab:1").plan(3).steps.empty());
}

TEST(RedistributePlan, AScalar) {
  const Operand scalar = Operand::of(Layout(Replicated(), Shape{}, 3), Dtype::u64);
  expect_right({scalar, scalar, Topology::regular(3), {}}, 1);
}

TEST(RedistributePlan, OneRankOfManyThousandIsASmallPlan) {
  const Operand from = Operand::of(Layout(BlockCyclic({64, 64}, {64, 64}), {100000, 100000}, 4096),
                                   Dtype::f64, Order::row_major, Residency::heap);
  const Operand to =
      Operand::of(Layout(BlockCyclic({32, 128}, {96, 96}), {100000, 100000}, 4096), Dtype::f64);
  for (const int per_node : {0, 64, 1}) {
    const Plan plan = plan_redistribute(from, to, Topology::regular(4096, per_node), 3071);
    const Traffic moved = traffic(plan);
    EXPECT_EQ(moved.local_bytes + moved.node_bytes + moved.network_bytes, to.layout.local_size(3071) * 8);
    EXPECT_LT(plan.steps.size(), 200u);
    std::int64_t scratch = 0;
    for (const Buffer& buffer : plan.buffers) scratch += buffer.bytes;
    EXPECT_LE(scratch, 32 << 20);
  }
}

template <class Failure = ArgumentError>
std::string refusal(const Case& test) {
  std::set<std::string> texts;
  for (int rank = 0; rank < test.topology.ranks(); ++rank) {
    try {
      test.plan(rank);
      ADD_FAILURE() << "not refused: " << test.to_string();
    } catch (const Failure& error) {
      texts.insert(error.what());
    }
  }
  EXPECT_EQ(texts.size(), 1u) << "the ranks say different things";
  return texts.empty() ? "" : *texts.begin();
}

void expect_says(const std::string& text, const std::string& part) {
  EXPECT_TRUE(contains(text, part)) << text;
}

TEST(RedistributePlan, RefusesOperandsThatDoNotFit) {
  Case test = make_case({8, 6}, 3, "slab:0", "slab:1");
  test.destination.dtype = Dtype::f32;
  expect_says(refusal(test), "u64 into f32");
  test = make_case({8, 6}, 3, "slab:0", "slab:1");
  test.destination = operand({6, 8}, 3, "slab:0");
  expect_says(refusal(test), "8x6");
  test.options.axes = {1, 0};
  expect_right(test, 1);
  test.topology = Topology::regular(4);
  expect_says(refusal(test), "4 ranks");
  test = make_case({8, 6}, 3, "slab:0", "slab:1");
  for (const std::vector<int>& axes : {std::vector<int>{0}, {0, 0}, {0, 2}, {-1, 0}, {0, 1, 2}}) {
    test.options.axes = axes;
    expect_says(refusal(test), "axes");
  }
  EXPECT_THROW(make_case({8, 6}, 3, "slab:0", "slab:1").plan(3), ArgumentError);
}

TEST(RedistributePlan, RefusesAMethodThatCannotBe) {
  const auto text = [](RedistributeMethod method, const char* from) {
    return refusal(make_case({8, 6}, 4, from, "slab:1", 2, method, Residency::ordinary, Residency::ordinary));
  };
  expect_says(text(RedistributeMethod::direct, "slab:0"), "the source (8x6");
  expect_says(text(RedistributeMethod::pushed, "slab:0"), "the destination (8x6");
  expect_says(
      refusal(make_case({8, 6}, 4, "mesh:x=4:-,-;partial=sum:x", "slab:1", 2, RedistributeMethod::pushed)),
      "partial");
  Case strided = make_case({8, 6}, 4, "slab:0", "slab:1", 2, RedistributeMethod::direct);
  strided.source.dense = false;
  expect_says(refusal(strided), "strided");
}

TEST(RedistributePlan, RefusesReductionsThatAreNotDefinedAndTooLittleScratch) {
  Case test = make_case({8}, 4, "mesh:x=4:-;partial=max:x", "slab:0");
  test.source.dtype = test.destination.dtype = Dtype::c64;
  expect_says(refusal(test), "c64");
  test = make_case({8}, 4, "slab:0", "replicated", 1);
  test.options.staging_bytes = 64;
  expect_says(refusal(test), "staging_bytes");
  test.options.staging_bytes = -1;
  expect_says(refusal(test), "negative");
  test = make_case({8}, 4, "slab:0", "replicated");
  test.source.space = MemorySpace::device;
  expect_says(refusal<UnsupportedError>(test), "device");
}

TEST(RedistributePlan, ExplainsWhatWouldMove) {
  const std::string text = explain_redistribute(Layout(Slab(0), {12, 10}, 3), Slab(1));
  expect_says(text, "direct");
  EXPECT_FALSE(
      explain_redistribute(Layout(Slab(0), {12, 10}, 3), Slab(1), Dtype::f32, {.axes = {1, 0}}).empty());
}

TEST(RedistributePlan, WhatIsPulledLiesDenseInOrdinaryMemory) {
  const auto pulled = [](Residency source, bool dense, const char* from) {
    Case test = make_case({8, 6}, 4, from, "slab:1", 2, RedistributeMethod::pulled, source);
    test.topology = test.topology.with_cross_memory();
    test.source.dense = dense;
    return test;
  };
  const Case good = pulled(Residency::ordinary, true, "slab:0");
  EXPECT_EQ(good.plan(1).method, "pulled+messages");
  expect_right(good, 9);
  constexpr const char* wanted = "needs a dense source in ordinary memory";
  expect_says(refusal(pulled(Residency::heap, true, "slab:0")), wanted);
  expect_says(refusal(pulled(Residency::ordinary, false, "slab:0")), wanted);
  expect_says(refusal(pulled(Residency::ordinary, true, "mesh:x=4:-,-;partial=sum:x")), "cannot accumulate");
  Case apart = good;
  apart.topology = apart.topology.with_cross_memory(false);
  expect_says(refusal(apart), "not permitted here (see cross_memory)");
}

}  // namespace
}  // namespace partita
