#include "plan/plan_builder.hpp"

#include <gtest/gtest.h>

namespace partita {
namespace {

Step counter(StepKind kind, int peer, int channel, std::int64_t count = 0) {
  Step step;
  step.kind = kind;
  step.peer = peer;
  step.channel = channel;
  step.count = count;
  return step;
}

TEST(PlanBuilder, RenumbersBuffersAndMessages) {
  Plan plan;
  plan.steps.resize(3);
  Plan part;
  Step receive;
  receive.kind = StepKind::receive;
  receive.to.buffer = 1;
  Step copy;
  copy.from.buffer = 1;
  copy.to.buffer = 0;
  copy.after = {0};
  part.steps = {receive, copy};
  const std::vector<int> buffers{5, 7};
  planning::PlanBuilder(plan).append(part, buffers);
  ASSERT_EQ(plan.steps.size(), 5U);
  EXPECT_EQ(plan.steps[3].to.buffer, 7);
  EXPECT_EQ(plan.steps[4].from.buffer, 7);
  EXPECT_EQ(plan.steps[4].to.buffer, 5);
  EXPECT_EQ(plan.steps[4].after, std::vector<int>{3});
}

TEST(PlanBuilder, CountsOfSignalsGoOn) {
  Plan part;
  part.steps = {counter(StepKind::signal, 1, 0), counter(StepKind::wait, 1, 0, 1),
                counter(StepKind::wait, 1, 0, 2), counter(StepKind::wait, 1, 2, 1)};
  Plan plan;
  planning::PlanBuilder(plan).append(part, std::vector<int>{0});
  planning::PlanBuilder(plan).append(part, std::vector<int>{0});
  EXPECT_EQ(plan.steps[5].count, 3);
  EXPECT_EQ(plan.steps[6].count, 4);
  EXPECT_EQ(plan.steps[7].count, 2);
}

TEST(PlanBuilder, WorksFollowTheirSteps) {
  Plan part;
  Twiddle twiddle;
  twiddle.part.place.buffer = 1;
  planning::PlanBuilder(part).compute(twiddle);
  Plan plan;
  planning::PlanBuilder builder(plan);
  builder.compute(Transform{});
  builder.append(part, std::vector<int>{3, 4});
  ASSERT_EQ(plan.works.size(), 2U);
  EXPECT_EQ(plan.steps[1].work, 1);
  EXPECT_EQ(std::get<Twiddle>(plan.works[1]).part.place.buffer, 4);
}

TEST(PlanBuilder, WaitsCountSignalsOfPeerAndChannel) {
  Plan plan;
  planning::PlanBuilder builder(plan);
  builder.wait(1, planning::Channel::ready);
  builder.wait(1, planning::Channel::ready);
  builder.wait(1, planning::Channel::done);
  builder.wait(2, planning::Channel::ready, 7);
  builder.wait(2, planning::Channel::ready);
  std::vector<std::int64_t> counts;
  for (const Step& step : plan.steps) counts.push_back(step.count);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{1, 2, 1, 7, 8}));
}

TEST(PlanBuilder, ScratchIsSharedByNameKindAndDtype) {
  Plan plan;
  planning::PlanBuilder builder(plan);
  const int first = builder.add_or_share({"lines", BufferKind::scratch, {}, 64, Dtype::f32});
  EXPECT_EQ(builder.add_or_share({"lines", BufferKind::scratch, {}, 128, Dtype::f32}), first);
  EXPECT_EQ(plan.buffers[0].bytes, 128);
  EXPECT_NE(builder.add_or_share({"lines", BufferKind::scratch, {}, 64, Dtype::f64}), first);
  EXPECT_NE(builder.add_or_share({"lines", BufferKind::shared, {}, 64, Dtype::f32}), first);
}

}  // namespace
}  // namespace partita
