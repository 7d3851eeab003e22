// What messages have to wait for, found in plans by hand and by the planner.
#include "execute/message_use.hpp"

#include <gtest/gtest.h>

#include <partita/redistribute.hpp>

#include "execute/stream_order.hpp"
#include "unit/hand_made_plans.hpp"

namespace partita::testing {
namespace {

using Side = MessageUse::Side;

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

TEST(MessageUse, AMessageWaitsForTheLastMoveThatTouchesItsMemory) {
  const Place source{0, 0, 0, {}}, destination{1, 0, 0, {}};
  const MessageUse use = find_message_use(plan_of({
      hand_made::copy(elements(0, 8), source, room(0)),              // 0: bytes 0 to 31
      hand_made::copy(elements(8, 16), source, room(32)),            // 1: 32 to 63
      hand_made::send(1, room(0), 64),                               // 2
      hand_made::copy(elements(0, 4), source, room(64)),             // 3: 64 to 79
      hand_made::send(1, room(64), 16),                              // 4
      receive(1, room(128), 32),                                     // 5
      hand_made::copy(elements(0, 8), room(128), destination, {5}),  // 6
      receive(1, room(144), 16),                                     // 7
      hand_made::copy(elements(0, 8), source, destination),          // 8
  }));
  EXPECT_TRUE(use.apart);
  EXPECT_EQ(use.largest, 64);
  EXPECT_EQ(use.sides, (std::vector{Side::out, Side::out, Side::out, Side::out, Side::out, Side::in, Side::in,
                                    Side::in, Side::none}));
  EXPECT_EQ(use.after_move, (std::vector{-1, -1, 1, -1, 3, -1, -1, 6, -1}));
}

TEST(MessageUse, SharedMemoryKeepsTheOrderOfThePlan) {
  const Place source{0, 0, 0, {}}, destination{1, 0, 0, {}};
  const MessageUse use = find_message_use(plan_of({
      receive(1, room(0), 32),                                     // 0
      hand_made::copy(elements(0, 8), room(0), destination, {0}),  // 1
      hand_made::copy(elements(0, 8), source, room(16)),           // 2: over what has been unpacked
      hand_made::send(1, room(16), 32),                            // 3
      receive(1, room(0), 16),                                     // 4
  }));
  EXPECT_FALSE(use.apart);
  EXPECT_EQ(use.after_move[3], 2);
  EXPECT_EQ(use.after_move[4], 1);
}

TEST(MessageUse, TheSidesOfARedistributionAreApart) {
  const Operand from = Operand::of(Layout(Slab(0), {64, 64}, 4), Dtype::f64);
  const Operand to = Operand::of(Layout(Slab(1), {64, 64}, 4), Dtype::f64);
  RedistributeOptions options;
  options.staging_bytes = 2048;
  for (const int per_node : {1, 2}) {
    const Plan plan = plan_redistribute(from, to, Topology::regular(4, per_node), 1, options);
    const MessageUse use = find_message_use(plan);
    EXPECT_TRUE(use.apart);
    int again = 0;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      if (plan.steps[i].kind == StepKind::send) {
        EXPECT_EQ(use.after_move[i], static_cast<int>(i) - 1);
      }
      again += plan.steps[i].kind == StepKind::receive && use.after_move[i] >= 0;
    }
    EXPECT_GT(again, 0);  // receives into memory that has been unpacked
  }
}

TEST(StreamOrder, OrdersOnlyWhatDependsOnEachOther) {
  const Place source{0, 0, 0, {}}, destination{1, 0, 0, {}};
  const Plan plan = plan_of({});
  std::vector<std::pair<int, int>> orders;
  StreamOrder order(plan, [&](int before, int after) { orders.emplace_back(before, after); });
  const Step pack = hand_made::copy(elements(0, 8), source, room(0));
  const Step unpack = hand_made::copy(elements(0, 8), room(64), destination);
  const Step own = hand_made::copy(elements(0, 8), source, destination);
  const auto expect = [&](const std::vector<std::pair<int, int>>& wanted) {
    EXPECT_EQ(orders, wanted);
    orders.clear();
  };
  order.begin(false);
  order.move(pack, 1);
  order.move(unpack, 2);
  order.move(pack, 1);
  order.move(unpack, 2);
  expect({});
  order.move(own, 0);  // writes what is unpacked into
  expect({{2, 0}});
  order.move(pack, 1);
  expect({});
  order.move(unpack, 2);
  expect({{0, 2}});
  order.signal();  // a peer may write all of it now
  expect({{1, 0}, {2, 0}});
  order.wait();  // and has written
  order.move(pack, 1);
  order.move(unpack, 2);
  order.move(unpack, 2);
  expect({{0, 1}, {0, 2}});
  order.begin(false);
  order.move(pack, 1);
  expect({});
  order.begin(true);  // in place
  order.move(pack, 1);
  order.move(unpack, 2);
  expect({{1, 2}});
}

}  // namespace
}  // namespace partita::testing
