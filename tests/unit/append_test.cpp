#include "plan/append.hpp"

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

TEST(Append, RenumbersBuffersAndMessages) {
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
  append(plan, part, buffers);
  ASSERT_EQ(plan.steps.size(), 5U);
  EXPECT_EQ(plan.steps[3].to.buffer, 7);
  EXPECT_EQ(plan.steps[4].from.buffer, 7);
  EXPECT_EQ(plan.steps[4].to.buffer, 5);
  EXPECT_EQ(plan.steps[4].after, std::vector<int>{3});
}

TEST(Append, CountsOfSignalsGoOn) {
  Plan part;
  part.steps = {counter(StepKind::signal, 1, 0), counter(StepKind::wait, 1, 0, 1),
                counter(StepKind::wait, 1, 0, 2), counter(StepKind::wait, 1, 2, 1)};
  Plan plan;
  append(plan, part, std::vector<int>{0});
  append(plan, part, std::vector<int>{0});
  EXPECT_EQ(plan.steps[5].count, 3);
  EXPECT_EQ(plan.steps[6].count, 4);
  EXPECT_EQ(plan.steps[7].count, 2);
}

TEST(Append, WorksFollowTheirSteps) {
  Plan part;
  Twiddle twiddle;
  twiddle.part.place.buffer = 1;
  append_work(part, twiddle);
  Plan plan;
  append_work(plan, Transform{});
  append(plan, part, std::vector<int>{3, 4});
  ASSERT_EQ(plan.works.size(), 2U);
  EXPECT_EQ(plan.steps[1].work, 1);
  EXPECT_EQ(std::get<Twiddle>(plan.works[1]).part.place.buffer, 4);
}

}  // namespace
}  // namespace partita
