#include <nlohmann/json.hpp>

#include "support/test.hpp"

namespace partita {
namespace {

Planner rows_to_columns(int ranks, int ranks_per_node = 0) {
  const Operand from = Operand::of(Layout(Slab(0), {37, 23}, ranks), Dtype::f64);
  const Operand to = Operand::of(Layout(Slab(1), {37, 23}, ranks), Dtype::f64);
  const Topology topology = Topology::regular(ranks, ranks_per_node);
  return [=](int rank) { return plan_redistribute(from, to, topology, rank); };
}

double end_of(const Timeline& timeline) {
  double end = 0;
  for (const auto& rank : timeline.ranks) {
    for (const TracedStep& step : rank) end = std::max(end, step.end);
  }
  return end;
}

TEST(PlannedTimeline, HasEveryStepOnceOneAfterTheOther) {
  for (const int ranks_per_node : {0, 1, 2}) {
    const Planner planner = rows_to_columns(4, ranks_per_node);
    const Machine machine;
    const Timeline timeline = planned_timeline(planner, 4, machine);
    ASSERT_EQ(timeline.ranks.size(), 4U);
    for (int rank = 0; rank < 4; ++rank) {
      const Plan plan = planner(rank);
      const auto& steps = timeline.ranks[static_cast<std::size_t>(rank)];
      ASSERT_EQ(steps.size(), plan.steps.size());
      double last = 0;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i].step, static_cast<int>(i));
        EXPECT_EQ(steps[i].begin, last);
        EXPECT_GE(steps[i].end, steps[i].begin);
        last = steps[i].end;
      }
    }
    EXPECT_DOUBLE_EQ(end_of(timeline), simulate(planner, 4, machine).seconds);
  }
}

TEST(PlannedTimeline, RefusesWhatItCannotRun) {
  EXPECT_THROW(planned_timeline({}, 2, Machine{}), ArgumentError);
  EXPECT_THROW(planned_timeline(rows_to_columns(2), 3, Machine{}), ArgumentError);
  EXPECT_THROW(planned_timeline(rows_to_columns(2), 0, Machine{}), ArgumentError);
  EXPECT_THROW(planned_timeline(rows_to_columns(65), 65, Machine{}), ArgumentError);
}

TEST(ChromeTrace, HasARowForEachRankAndStream) {
  const Timeline timeline{
      "measured", {{{"copy", "copy \"it\"", 0, 3, 0, 0, 1.5e-6}, {"wait", "wait", 0, 4, 2, 2e-6, 2e-3}}, {}}};
  const Timeline both[] = {timeline, {"planned", {}}};
  const auto document = nlohmann::json::parse(chrome_trace(both));
  const auto& events = document.at("traceEvents");
  std::vector<std::string> rows, processes;
  std::vector<nlohmann::json> steps;
  for (const auto& event : events) {
    if (event["name"] == "thread_name") rows.push_back(event["args"]["name"]);
    if (event["name"] == "process_name") processes.push_back(event["args"]["name"]);
    if (event["ph"] == "X") steps.push_back(event);
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"rank 0", "rank 0, stream 1", "rank 1"}));
  EXPECT_EQ(processes, (std::vector<std::string>{"measured", "planned"}));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0]["args"]["what"], "copy \"it\"");
  EXPECT_DOUBLE_EQ(steps[0]["dur"], 1.5);
  EXPECT_DOUBLE_EQ(steps[1]["ts"], 2);
  EXPECT_DOUBLE_EQ(steps[1]["dur"], 1998);
  EXPECT_NE(steps[0]["tid"], steps[1]["tid"]);
}

}  // namespace
}  // namespace partita
