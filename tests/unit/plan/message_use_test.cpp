// What messages have to wait for, found in plans by hand and by the planner.
#include "execute/message_use.hpp"

#include "execute/host/direct_messages.hpp"
#include "execute/lower.hpp"
#include "plan/cost.hpp"
#include "plan/dependencies.hpp"
#include "support/models/hand_made_plans.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using Side = execution::MessageUse::Side;

Step receive(int peer, Place to, std::int64_t bytes) {
  Step step;
  step.kind = StepKind::receive;
  step.peer = peer;
  step.to = to;
  step.bytes = bytes;
  return step;
}

Place room(std::int64_t offset) {
  return {2, 0, offset, {0}};
}

/// f32 arrays of 64 elements on two ranks, and scratch.
Plan plan_of(std::vector<Step> steps) {
  const Operand operand = Operand::of(Layout(Slab(0), {64}, 2), Dtype::f32);
  Plan plan;
  plan.operation = "by hand";
  plan.topology = Topology::regular(2, 1);
  plan.buffers = {{"source", BufferKind::operand, operand, 0},
                  {"destination", BufferKind::operand, operand, 0},
                  {"messages", BufferKind::scratch, {}, 256}};
  plan.steps = std::move(steps);
  return plan;
}

Region elements(std::int64_t first, std::int64_t last) {
  return Region{{IndexSet::range(first, last)}};
}

execution::MessageUse use_of(const Plan& plan) {
  return execution::find_message_use(plan, planning::touched_by_steps(plan));
}

/// Of a message, the moves that it follows, where each side has a lane, and sends and receives one each.
std::vector<std::vector<int>> moves_before(const Plan& plan) {
  const execution::MessageUse use = use_of(plan);
  std::vector<int> lanes;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepKind kind = plan.steps[i].kind;
    lanes.push_back(kind == StepKind::send      ? 3
                    : kind == StepKind::receive ? 4
                    : use.apart                 ? static_cast<int>(use.sides[i])
                                                : 0);
  }
  return planning::find_dependencies(plan, planning::touched_by_steps(plan), lanes).after;
}

TEST(MessageUse, AMessageWaitsForTheLastMoveThatTouchesItsMemory) {
  const Place source{0, 0, 0, {}}, destination{1, 0, 0, {}};
  const Plan plan = plan_of({
      hand_made::copy(elements(0, 8), source, room(0)),              // 0: bytes 0 to 31
      hand_made::copy(elements(8, 16), source, room(32)),            // 1: 32 to 63
      hand_made::send(1, room(0), 64),                               // 2
      hand_made::copy(elements(0, 4), source, room(64)),             // 3: 64 to 79
      hand_made::send(1, room(64), 16),                              // 4
      receive(1, room(128), 32),                                     // 5
      hand_made::copy(elements(0, 8), room(128), destination, {5}),  // 6
      receive(1, room(144), 16),                                     // 7
      hand_made::copy(elements(0, 8), source, destination),          // 8
  });
  const execution::MessageUse use = use_of(plan);
  EXPECT_TRUE(use.apart);
  EXPECT_EQ(use.largest, 64);
  EXPECT_EQ(use.sides, (std::vector{Side::out, Side::out, Side::out, Side::out, Side::out, Side::in, Side::in,
                                    Side::in, Side::none}));
  const auto before = moves_before(plan);
  EXPECT_EQ(before[2], std::vector{1});
  EXPECT_EQ(before[4], std::vector{3});
  EXPECT_TRUE(before[5].empty());
  EXPECT_EQ(before[7], std::vector{6});
  EXPECT_EQ(before[8], std::vector{6});  // which has written what it writes
}

TEST(MessageUse, SharedMemoryKeepsTheOrderOfThePlan) {
  const Place source{0, 0, 0, {}}, destination{1, 0, 0, {}};
  const Plan plan = plan_of({
      receive(1, room(0), 32),                                     // 0
      hand_made::copy(elements(0, 8), room(0), destination, {0}),  // 1
      hand_made::copy(elements(0, 8), source, room(16)),           // 2: over what has been unpacked
      hand_made::send(1, room(16), 32),                            // 3
      receive(1, room(0), 16),                                     // 4
  });
  EXPECT_FALSE(use_of(plan).apart);
  EXPECT_EQ(moves_before(plan)[3], std::vector{2});
  EXPECT_EQ(moves_before(plan)[4], std::vector{1});
}

TEST(MessageUse, TheSidesOfARedistributionAreApart) {
  const Operand from = Operand::of(Layout(Slab(0), {64, 64}, 4), Dtype::f64);
  const Operand to = Operand::of(Layout(Slab(1), {64, 64}, 4), Dtype::f64);
  for (const int per_node : {1, 2}) {
    const Plan plan = plan_redistribute(from, to, Topology::regular(4, per_node), 1, {.staging_bytes = 2048});
    EXPECT_TRUE(use_of(plan).apart);
    const auto before = moves_before(plan);
    int again = 0;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      if (plan.steps[i].kind == StepKind::send) {
        EXPECT_EQ(before[i], std::vector{static_cast<int>(i) - 1});
      }
      again += plan.steps[i].kind == StepKind::receive && !before[i].empty();
    }
    EXPECT_GT(again, 0);  // receives into memory that has been unpacked
  }
}

// --- messages that are neither packed nor unpacked

execution::DirectMessages direct_of(const Plan& plan) {
  std::vector<int> closing(plan.steps.size(), -1);
  int last = -1;
  for (std::size_t i = plan.steps.size(); i-- > 0;) {
    if (!planning::is_message(plan.steps[i].kind)) continue;
    if (last < 0 || plan.steps[static_cast<std::size_t>(last)].round != plan.steps[i].round) {
      last = static_cast<int>(i);
    }
    closing[i] = last;
  }
  const std::vector<Strides> strides(plan.buffers.size());
  return execution::find_direct_messages(plan, planning::touched_by_steps(plan), closing,
                                         execution::lower_moves(plan, strides));
}

constexpr std::size_t packed = execution::DirectMessages::packed;

/// A pack, a round of a send and a receive, and an unpacking, from and to these elements, with a step between
/// the round and the unpacking or, where it comes early, between the pack and the round.
Plan exchange_with(std::int64_t from, int target, std::int64_t to, const Step& between, bool early = false) {
  const Place source{0, 0, 0, {}}, destination{target, 0, 0, {}};
  std::vector<Step> steps{hand_made::copy(elements(from, from + 4), source, room(0)),  // 0
                          hand_made::send(1, room(0), 16), receive(1, room(64), 16),
                          hand_made::copy(elements(to, to + 4), room(64), destination, {early ? 3 : 2})};
  steps.insert(steps.begin() + (early ? 1 : 3), between);
  return plan_of(steps);
}

TEST(DirectMessages, AreSparedTheirCopiesWhereNothingComesBetween) {
  const Place source{0, 0, 0, {}}, destination{1, 0, 0, {}};
  const Step far = hand_made::copy(elements(20, 28), source, destination);
  for (const bool early : {false, true}) {
    const execution::DirectMessages found = direct_of(exchange_with(0, 1, 8, far, early));
    EXPECT_EQ(found.spared, (std::vector{true, false, false, false, true}));
    EXPECT_EQ(found.copy, early ? (std::vector{packed, packed, std::size_t{0}, std::size_t{4}, packed})
                                : (std::vector{packed, std::size_t{0}, std::size_t{4}, packed, packed}));
  }
}

TEST(DirectMessages, AreCopiedWhereTheirPlaceIsTouchedMeanwhile) {
  const Place source{0, 0, 0, {}}, destination{1, 0, 0, {}};
  const auto spared = [](const Plan& plan) { return direct_of(plan).spared; };
  const Step reads_target = hand_made::copy(elements(8, 12), destination, source);
  EXPECT_EQ(spared(exchange_with(0, 1, 8, reads_target)), (std::vector{true, false, false, false, false}));
  EXPECT_EQ(spared(exchange_with(0, 1, 8, reads_target, true)),
            (std::vector{true, false, false, false, true}));
  const Step writes_source = hand_made::copy(elements(0, 4), destination, source);
  EXPECT_EQ(spared(exchange_with(0, 1, 8, writes_source, true)),
            (std::vector{false, false, false, false, true}));
  EXPECT_EQ(spared(exchange_with(0, 1, 8, writes_source)), (std::vector{true, false, false, false, true}));
  // What is sent is overwritten by what comes in the same round.
  const Step far = hand_made::copy(elements(20, 28), source, destination);
  EXPECT_EQ(spared(exchange_with(0, 0, 2, far)), (std::vector{true, false, false, false, false}));
}

TEST(DirectMessages, WhatSeveralReadStaysInTheScratch) {
  const Place destination{1, 0, 0, {}};
  const Step reads_slot = hand_made::copy(elements(16, 20), room(0), destination);
  EXPECT_EQ(direct_of(exchange_with(0, 1, 8, reads_slot, true)).spared,
            (std::vector{false, false, false, false, true}));
  const Step reads_message = hand_made::copy(elements(16, 20), room(64), destination, {2});
  EXPECT_EQ(direct_of(exchange_with(0, 1, 8, reads_message)).spared,
            (std::vector{true, false, false, false, false}));
}

}  // namespace
}  // namespace partita::testing
