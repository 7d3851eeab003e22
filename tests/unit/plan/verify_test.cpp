#include "support/models/hand_made_plans.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using namespace hand_made;

std::vector<std::string> faults(std::vector<Plan> plans, int schedules = 6) {
  return verify(planner(std::move(plans)), 0, 1, schedules).faults;
}

// One of the lines has all of the words.
::testing::AssertionResult finds(const std::vector<std::string>& lines,
                                 const std::vector<std::string>& words) {
  for (const std::string& line : lines) {
    bool all = true;
    for (const std::string& word : words) all = all && contains(line, word);
    if (all) return ::testing::AssertionSuccess() << line;
  }
  ::testing::AssertionResult result = ::testing::AssertionFailure() << lines.size() << " faults:";
  for (const std::string& line : lines) result << "\n  " << line;
  return result;
}

::testing::AssertionResult nothing_wrong(const std::vector<std::string>& lines) {
  return lines.empty() ? ::testing::AssertionSuccess() : !finds(lines, {"no such words"}) << lines.front();
}

Region rows(std::int64_t first, std::int64_t last, std::int64_t columns) {
  return {{IndexSet::range(first, last), IndexSet::range(0, columns)}};
}

// --- good plans

TEST(Verify, AcceptsDirectPlans) {
  EXPECT_TRUE(nothing_wrong(faults(direct(on_a_node))));
  EXPECT_TRUE(
      nothing_wrong(faults(direct(Problem({7, 5}, "block-cyclic:3x1:2x2", "block-cyclic:1x3:1x1", 3)))));
  EXPECT_TRUE(nothing_wrong(faults(direct(Problem({2, 1}, "slab:0", "slab:1", 5)))));
}

TEST(Verify, AcceptsMessages) {
  EXPECT_TRUE(nothing_wrong(faults(messages(apart))));
}

// Rank 0 hands its rows to rank 1 through one slot of staging, row by row.
std::vector<Plan> through_one_slot() {
  const Problem problem({3, 4}, "box:0,0-3,4;0,0-0,0", "box:0,0-0,0;0,0-3,4", 2);
  std::vector<Plan> plans = problem.plans({{"ring", BufferKind::shared, {}, 32}}, Residency::ordinary);
  for (int row = 0; row < 3; ++row) {
    if (row > 0) plans[0].steps.push_back(wait(1, 1, row));
    plans[0].steps.push_back(copy(rows(row, row + 1, 4), source(0), staging(0)));
    plans[0].steps.push_back(signal(1));
    plans[1].steps.push_back(wait(0, 0, row + 1));
    plans[1].steps.push_back(copy(rows(row, row + 1, 4), staging(0), destination(1)));
    plans[1].steps.push_back(signal(0, 1));
  }
  plans[0].steps.push_back(wait(1, 1, 3));
  return plans;
}

TEST(Verify, AcceptsARingOfOneSlot) {
  EXPECT_TRUE(nothing_wrong(faults(through_one_slot())));
}

// Both ranks hold a contribution to all elements; rank 0 wants the sum of them.
const Problem partial({4, 3}, "mesh:x=2:-,-;partial=sum:x", "box:0,0-4,3;0,0-0,0", 2);

std::vector<Plan> sum_up() {
  std::vector<Plan> plans = partial.plans();
  const Region all = rows(0, 4, 3);
  plans[0].steps = {copy(all, source(0), destination(0)), wait(1), accumulate(all, source(1), destination(0)),
                    signal(1)};
  plans[1].steps = {signal(0), wait(0)};
  return plans;
}

TEST(Verify, AcceptsASumOfContributions) {
  EXPECT_TRUE(nothing_wrong(faults(sum_up())));
}

std::vector<Plan> spread_contributions() {
  const Problem problem({4, 3}, "box:0,0-4,3;0,0-0,0", "mesh:x=2:-,-;partial=sum:x", 2);
  std::vector<Plan> plans = problem.plans();
  const Region all = rows(0, 4, 3);
  plans[0].steps = {copy(all, source(0), destination(0))};
  plans[1].steps = {fill(all, destination(1))};
  return plans;
}

TEST(Verify, AcceptsAPartialDestination) {
  EXPECT_TRUE(nothing_wrong(faults(spread_contributions())));
  const Problem replicas({4, 3}, "slab:0", "replicated", 3);
  EXPECT_TRUE(nothing_wrong(faults(direct(replicas))));
}

// --- wrong values

TEST(Verify, FindsAMissingElement) {
  std::vector<Plan> plans = direct(on_a_node);
  plans[1].steps[3].region.sets[0] = IndexSet::range(0, 2);
  EXPECT_TRUE(finds(faults(plans), {"rank 1: 1 of 5 elements", "hold nothing", "first (2,2)"}));
}

TEST(Verify, FindsADoubleWrite) {
  std::vector<Plan> plans = direct(on_a_node);
  plans[0].steps.insert(plans[0].steps.begin() + 4, plans[0].steps[3]);
  EXPECT_TRUE(finds(faults(plans), {"rank 0, step 4 (copy", "element (3,0)", "a second time"}));
}

TEST(Verify, FindsWhatTheReaderDoesNotOwn) {
  std::vector<Plan> plans = direct(on_a_node);
  plans[0].steps[3].region.sets[1] = IndexSet::range(1, 3);
  EXPECT_TRUE(finds(faults(plans), {"rank 0, step 3", "rank 0 does not own the region in destination"}));
}

TEST(Verify, FindsAReadFromOneWhoDoesNotOwn) {
  std::vector<Plan> plans = direct(on_a_node);
  plans[0].steps[3].from.rank = 0;
  EXPECT_TRUE(finds(faults(plans), {"rank 0, step 3", "rank 0 does not own the region in source"}));
}

TEST(Verify, FindsAWriteToTheSource) {
  std::vector<Plan> plans = direct(on_a_node);
  plans[0].steps[2].to = source(0);
  EXPECT_TRUE(finds(faults(plans), {"rank 0, step 2", "writes the source"}));
}

TEST(Verify, FindsFaultsOfAccumulation) {
  std::vector<Plan> plans = sum_up();
  std::swap(plans[0].steps[0], plans[0].steps[1]);
  EXPECT_TRUE(nothing_wrong(faults(plans)));
  std::swap(plans[0].steps[1], plans[0].steps[2]);
  EXPECT_TRUE(finds(faults(plans), {"rank 0, step 1 (accumulate", "into memory that was never written"}));

  plans = sum_up();
  plans[0].steps.insert(plans[0].steps.begin() + 3, plans[0].steps[2]);
  EXPECT_TRUE(finds(faults(plans), {"counts element (0,0) twice", "contribution 1 onto contributions 0+1"}));

  plans = sum_up();
  std::swap(plans[0].steps[0], plans[0].steps[1]);
  std::swap(plans[0].steps[1].from, plans[0].steps[2].from);
  EXPECT_TRUE(finds(faults(plans), {"accumulates element (0,0) out of order: contribution 0 onto"}));

  plans = sum_up();
  plans[0].steps[2].reduction = Reduction::max;
  EXPECT_TRUE(finds(faults(plans), {"partial sum, not max"}));

  plans = sum_up();
  plans[0].steps.erase(plans[0].steps.begin() + 2);
  EXPECT_TRUE(finds(faults(plans), {"12 of 12", "hold contribution 0 and not contributions 0+1"}));

  plans = direct(on_a_node);
  plans[0].steps[3].kind = StepKind::accumulate;
  EXPECT_TRUE(finds(faults(plans), {"the source is not partial"}));
}

TEST(Verify, FindsAFillThatIsNone) {
  std::vector<Plan> plans = direct(on_a_node);
  plans[0].steps[2] = fill(plans[0].steps[2].region, destination(0));
  EXPECT_TRUE(finds(faults(plans), {"step 2 (fill", "the destination is not partial"}));

  plans = spread_contributions();
  plans[0].steps[0] = fill(plans[0].steps[0].region, destination(0));
  EXPECT_TRUE(finds(faults(plans), {"rank 0: 12 of 12", "hold the identity and not contribution 0"}));

  plans = spread_contributions();
  plans[1].steps.clear();
  EXPECT_TRUE(finds(faults(plans), {"rank 1: 12 of 12", "hold nothing and not the identity"}));
}

// --- scratch

TEST(Verify, FindsASlotUsedAgainTooEarly) {
  std::vector<Plan> plans = through_one_slot();
  plans[0].steps[2].count = 0;  // does not wait until the row before was read
  EXPECT_TRUE(finds(faults(plans),
                    {"rank 1, step 1", "expects element (0,0) in ring of rank 0, found element (1,0)"}));
}

TEST(Verify, FindsASlotReadTooEarly) {
  std::vector<Plan> plans = through_one_slot();
  plans[1].steps[0].count = 0;
  EXPECT_TRUE(finds(faults(plans), {"rank 1, step 1"}));
  plans = through_one_slot();
  plans[1].steps[3].count = 1;
  EXPECT_TRUE(finds(faults(plans), {"rank 1, step 4", "expects element (1,0)", "found element (0,0)"}));
}

TEST(Verify, FindsScratchThatWasNeverWritten) {
  std::vector<Plan> plans = messages(apart);
  plans[0].steps[2].region.sets[0] = IndexSet::range(0, 2);
  EXPECT_TRUE(finds(faults(plans), {"rank 1, step 4", "before anything was written"}));
}

TEST(Verify, FindsAnotherPackingOrder) {
  std::vector<Plan> plans = messages(apart);
  plans[1].steps[2].to.axis_order = {1, 0};
  EXPECT_TRUE(nothing_wrong(faults(plans))) << "one column is packed alike in both orders";
  plans = messages(Problem({5, 4}, "slab:0", "slab:1", 2, 1));
  plans[1].steps[2].to.axis_order = {1, 0};
  EXPECT_TRUE(finds(faults(plans), {"rank 0, step 4", "expects element (3,1)", "found element (4,0)"}));
}

TEST(Verify, FindsScratchOutOfBounds) {
  std::vector<Plan> plans = messages(apart);
  plans[0].steps[2].to.offset = plans[0].steps[3].from.offset = 2040;
  const auto lines = faults(plans);
  EXPECT_TRUE(finds(lines, {"rank 0, step 2", "room of rank 0 ends before byte 2064"}));
  EXPECT_TRUE(finds(lines, {"rank 0, step 3 (send", "ends before byte"}));
}

// --- messages

TEST(Verify, FindsScratchOverwrittenUnderASend) {
  std::vector<Plan> plans = messages(apart);
  plans[0].steps.insert(plans[0].steps.begin() + 4, plans[0].steps[2]);
  plans[0].steps[5].after = {0};
  EXPECT_TRUE(
      finds(faults(plans), {"rank 0, step 4", "overwrites room of rank 0 while the send of its step 3"}));
}

TEST(Verify, FindsScratchReadUnderAReceive) {
  std::vector<Plan> plans = messages(apart);
  plans[0].steps[4].after = {};
  EXPECT_TRUE(
      finds(faults(plans), {"rank 0, step 4", "reads room of rank 0 while the receive of its step 0"}));
}

TEST(Verify, FindsAnUnmatchedMessage) {
  std::vector<Plan> plans = messages(apart);
  plans[0].steps.push_back(send(1, staging(0), 8));
  plans[0].steps.push_back(finish({6}));
  EXPECT_TRUE(finds(faults(plans), {"rank 0 sends 2 messages to rank 1, which receives 1"}));
  EXPECT_TRUE(finds(faults(plans), {"waits for rank 1 to receive", "rank 1 has ended"}));

  plans = messages(apart);
  plans[1].steps.erase(plans[1].steps.begin() + 3);
  plans[1].steps.pop_back();
  EXPECT_TRUE(finds(faults(plans), {"rank 0, step 4", "waits for rank 1 to send the message of step 0"}));
}

TEST(Verify, FindsAMessageThatIsNeverFinished) {
  std::vector<Plan> plans = messages(apart);
  plans[0].steps.pop_back();
  EXPECT_TRUE(finds(faults(plans), {"rank 0, step 3 (send", "is never finished"}));
}

TEST(Verify, FindsMessagesOfDifferentSize) {
  std::vector<Plan> plans = messages(apart);
  plans[1].steps[0].bytes -= 8;
  EXPECT_TRUE(finds(faults(plans), {"rank 1, step 4", "receives 16 bytes, but step 3 of rank 0 sends 24"}));
}

TEST(Verify, FindsRoundsThatDifferAtTheEnds) {
  std::vector<Plan> plans = messages(apart);
  for (Plan& plan : plans) {
    for (Step& step : plan.steps) step.round = 0;
  }
  EXPECT_TRUE(nothing_wrong(faults(plans)));
  for (Step& step : plans[1].steps) step.round = 1;
  EXPECT_TRUE(finds(faults(plans), {"ranks 0 and 1 name different rounds of their messages"}));
}

TEST(Verify, FindsARoundThatIsWaitedForBeforeItIsWhole) {
  std::vector<Plan> plans = messages(apart);
  for (Step& step : plans[0].steps) {
    if (step.kind == StepKind::receive) step.round = 0;
    if (step.kind == StepKind::send) step.round = 0;
  }
  Step again = plans[0].steps[0];
  for (const Step& step : plans[0].steps) {
    if (step.kind == StepKind::send) again = step;
  }
  again.after.clear();
  plans[0].steps.push_back(again);
  EXPECT_TRUE(finds(faults(plans), {"it is of round 0, but round 0 has been waited for"}));
}

// --- peers

TEST(Verify, FindsAReadAcrossNodes) {
  EXPECT_TRUE(finds(faults(direct(apart)), {"rank 0, step 3", "rank 1 is on another node"}));
}

TEST(Verify, FindsAReadOfOrdinaryMemoryAndPrivateScratch) {
  std::vector<Plan> plans = direct(on_a_node);
  for (Plan& plan : plans) plan.buffers[0].operand->residency = Residency::ordinary;
  EXPECT_TRUE(finds(faults(plans), {"source of rank 1 cannot be reached in place"}));

  plans = through_one_slot();
  for (Plan& plan : plans) plan.buffers[2].kind = BufferKind::scratch;
  EXPECT_TRUE(finds(faults(plans), {"ring is private to its rank"}));
}

TEST(Verify, FindsAReadWithoutAGrant) {
  std::vector<Plan> plans = direct(on_a_node);
  for (Plan& plan : plans) plan.steps[1].count = 0;
  EXPECT_TRUE(finds(faults(plans), {"rank 0, step 3", "rank 1 may not have begun its plan"}));

  plans = direct(on_a_node);
  for (Plan& plan : plans) plan.steps.pop_back();
  EXPECT_TRUE(finds(faults(plans), {"rank 0, step 3", "rank 1 may have ended its plan"}));
}

TEST(Verify, FindsCyclesOfWaits) {
  std::vector<Plan> plans = direct(on_a_node);
  for (Plan& plan : plans) std::swap(plan.steps[0], plan.steps[1]);
  EXPECT_TRUE(
      finds(faults(plans), {"cycle of waits: rank 0, step 0 (wait", "-> rank 1, step 0 (wait", "-> rank 0"}));
}

// Right where sends are buffered, a deadlock where they are not.
TEST(Verify, FindsSendsThatRelyOnBuffering) {
  std::vector<Plan> plans = messages(apart);
  for (Plan& plan : plans) {
    const Step receive = plan.steps[0];
    plan.steps = {plan.steps[1], plan.steps[2], plan.steps[3], finish({2}), receive, plan.steps[4]};
    plan.steps[5].after = {4};
  }
  EXPECT_TRUE(finds(faults(plans), {"cycle of waits", "rank 0, step 3 (finish"}));
}

TEST(Verify, FindsSignalsThatDoNotAddUp) {
  std::vector<Plan> plans = direct(on_a_node);
  plans[0].steps[5].count = 2;
  EXPECT_TRUE(
      finds(faults(plans), {"rank 0, step 5 (wait",
                            "for 2 signals of rank 1 on channel 1, of which 1 arrived", "rank 1 has ended"}));
  plans = direct(on_a_node);
  plans[1].steps.push_back(signal(0, 3));
  EXPECT_TRUE(finds(faults(plans), {"rank 1 signals rank 0 1 times on channel 3", "waits for 0 only"}));
}

// --- plans that cannot be run

TEST(Verify, FindsStepsThatNameNothing) {
  const auto with = [](Step step) {
    std::vector<Plan> plans = direct(on_a_node);
    plans[1].steps[2] = std::move(step);
    return faults(plans);
  };
  const Region column = rows(3, 5, 1);
  EXPECT_TRUE(finds(with(signal(2)), {"rank 1, step 2", "there is no rank 2"}));
  EXPECT_TRUE(finds(with(signal(0, 4)), {"there is no channel 4"}));
  EXPECT_TRUE(finds(with(copy(column, source(1), {7, 1, 0, {}})), {"there is no buffer 7"}));
  EXPECT_TRUE(finds(with(copy({{IndexSet::range(0, 1)}}, source(1), destination(1))),
                    {"1 dimensions in an array of 2"}));
  EXPECT_TRUE(finds(with(finish({2})), {"step 2 is not an earlier message"}));
  EXPECT_TRUE(finds(with(send(0, source(1), 8)), {"messages move scratch, not operands"}));
  std::vector<Plan> plans = messages(apart);
  plans[0].steps[2].to.axis_order = {0, 0};
  plans[1].steps[3].bytes = 7;
  EXPECT_TRUE(finds(faults(plans), {"rank 0, step 2", "axis order 0x0"}));
  EXPECT_TRUE(finds(faults(plans), {"rank 1, step 3", "7 bytes are not a positive multiple of the 8"}));
}

TEST(Verify, FindsRanksThatPlannedDifferentThings) {
  std::vector<Plan> plans = direct(on_a_node);
  plans[1].method = "another";
  EXPECT_TRUE(finds(faults(plans), {"ranks 0 and 1 differ"}));
  plans = direct(on_a_node);
  plans[1].rank = 0;
  EXPECT_TRUE(finds(faults(plans), {"the plan of rank 1 is one of rank 0"}));
}

TEST(Verify, ReportsAtMostTwentyFaults) {
  const Problem problem({40, 40}, "slab:0", "slab:1", 40);
  EXPECT_EQ(faults(problem.plans()).size(), 20u);
}

TEST(Verify, RefusesBadArguments) {
  const std::vector<Plan> plans = direct(on_a_node);
  EXPECT_THROW((void)verify({}), ArgumentError);
  EXPECT_THROW((void)verify(planner(plans), 0, 2), ArgumentError);
  EXPECT_THROW((void)verify(planner(through_one_slot()), 0, 2), ArgumentError);
}

}  // namespace
}  // namespace partita
