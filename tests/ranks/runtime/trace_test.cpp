// Timelines of what executors did, on the host or (PARTITA_TEST_DEVICE) on devices.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

struct Moved {
  explicit Moved(Context& context, Shape shape = {41, 26})
      : source(empty(context, shape, Slab(0), Dtype::f32)),
        destination(empty(context, shape, Slab(1), Dtype::f32)),
        plan(context, source.operand(), destination.operand()) {
    fill_random(source, 1);
  }
  void run() { plan.execute(source, destination); }

  Array source, destination;
  Redistribute plan;
};

/// Every step of every execution is there once; a stroke represents all of them.
void expect_whole(const std::vector<TracedStep>& steps, const Plan& plan, int executions) {
  std::multiset<std::pair<int, int>> expected, found;
  std::set<int> strokes;
  for (const TracedStep& step : steps) {
    if (step.step < 0) strokes.insert(step.execution);
    found.insert({step.execution, step.step});
  }
  for (int execution = 0; execution < executions; ++execution) {
    if (strokes.contains(execution)) {
      expected.insert({execution, -1});
      continue;
    }
    for (int step = 0; step < static_cast<int>(plan.steps.size()); ++step) expected.insert({execution, step});
  }
  EXPECT_EQ(found, expected);
}

void expect_increasing(const Timeline& timeline) {
  double first = 1e9;
  for (const auto& rank : timeline.ranks) {
    double last = 0;
    for (const TracedStep& step : rank) {
      EXPECT_GE(step.begin, last);
      EXPECT_GE(step.end, step.begin);
      last = step.begin;
      first = std::min(first, step.begin);
    }
  }
  EXPECT_EQ(first, 0);
}

void on_context(const std::function<void(Context&)>& body) {
  on_ranks(body, {.device = test_device()});
}

TEST(Trace, HasEveryStepOfEveryRank) {
  on_context([](Context& context) {
    // On devices, small exchanges are one stroke and large ones go into several streams.
    for (const Shape& shape : {Shape{41, 26}, Shape{2048, 1500}}) {
      Moved moved(context, shape);
      moved.run();
      const Timeline timeline = record_timeline(context, [&] {
        for (int i = 0; i < 3; ++i) moved.run();
      });
      EXPECT_EQ(timeline.name, "measured");
      ASSERT_EQ(timeline.ranks.size(), static_cast<std::size_t>(context.size()));
      expect_whole(timeline.ranks[static_cast<std::size_t>(context.rank())], moved.plan.plan(), 3);
      for (const auto& rank : timeline.ranks) EXPECT_FALSE(rank.empty());
      expect_increasing(timeline);
    }
  });
}

// Another execution in between does not take the steps of the second half for its own.
TEST(Trace, HasBothHalvesOfAnExecution) {
  on_context([](Context& context) {
    if (context.device().kind != Device::Kind::cpu) GTEST_SKIP() << "of the host";
    Moved moved(context);
    Halo halo(context, moved.source.operand(), {.lower = {1, 1}, .periodic = {true, true}});
    std::vector<float> cells(static_cast<std::size_t>(volume(halo.extended_shape())));
    const View extended = view(cells, halo.extended_shape());
    halo.start(moved.source, extended);
    halo.finish();
    const Timeline timeline = record_timeline(context, [&] {
      halo.start(moved.source, extended);
      moved.run();
      halo.finish();
    });
    for (int rank = 0; rank < context.size(); ++rank) {
      std::map<int, std::set<int>> steps;
      int last = -1;
      for (const TracedStep& step : timeline.ranks[static_cast<std::size_t>(rank)]) {
        EXPECT_TRUE(steps[step.execution].insert(step.step).second) << step.what;
        last = step.execution;
      }
      if (rank != context.rank()) continue;
      EXPECT_EQ(steps[0].size(), halo.plan().steps.size());
      EXPECT_EQ(steps[1].size(), moved.plan.plan().steps.size());
      EXPECT_EQ(last, context.size() > 1 ? 0 : 1);  // alone it has nothing to finish
    }
  });
}

TEST(Trace, RecordsWhatGoesIntoStreams) {
  on_context([](Context& context) {
    if (context.device().kind == Device::Kind::cpu) GTEST_SKIP() << "needs a device";
    Moved moved(context);
    const Timeline timeline =
        record_timeline(context, [&] { moved.plan.execute(moved.source, moved.destination, Stream{}); });
    expect_whole(timeline.ranks[static_cast<std::size_t>(context.rank())], moved.plan.plan(), 1);
    expect_increasing(timeline);
  });
}

TEST(Trace, IsEmptyWhereNothingIsExecuted) {
  on_context([](Context& context) {
    const Timeline timeline = record_timeline(context, [] {});
    ASSERT_EQ(timeline.ranks.size(), static_cast<std::size_t>(context.size()));
    for (const auto& rank : timeline.ranks) EXPECT_TRUE(rank.empty());
    Moved moved(context);
    moved.run();  // after a recording nothing is noted any more
    EXPECT_TRUE(compare(redistribute(moved.source, Slab(1)), moved.destination).equal);
  });
}

TEST(Trace, ThrowsOnAllRanksWhatOneThrew) {
  on_context([](Context& context) {
    const int last = context.size() - 1;
    EXPECT_THROW(record_timeline(context,
                                 [&] {
                                   if (context.rank() == last) throw ArgumentError("not here");
                                 }),
                 ArgumentError);
    EXPECT_THROW(record_timeline(context, {}), ArgumentError);
    // The recording inside is refused, and with it the one outside.
    EXPECT_THROW(record_timeline(context, [&] { (void)record_timeline(context, [] {}); }), ArgumentError);
    Moved moved(context);
    const Timeline timeline = record_timeline(context, [&] { moved.run(); });
    EXPECT_FALSE(timeline.ranks[0].empty());
  });
}

TEST(TrafficRecord, CountsEveryExecutionAsItsPlanSays) {
  on_context([](Context& context) {
    Moved moved(context);
    TrafficRecord record(context);
    EXPECT_THROW(TrafficRecord second(context), ArgumentError);
    moved.run();
    moved.run();
    record.stop();
    moved.run();
    context.synchronize();
    const Traffic planned = traffic(moved.plan.plan());
    ASSERT_EQ(record.executions().size(), 2U);
    for (const ExecutedTraffic& one : record.executions()) {
      EXPECT_EQ(one.operation, "redistribute");
      EXPECT_EQ(one.method, moved.plan.plan().method);
      EXPECT_EQ(one.traffic.local_bytes, planned.local_bytes);
      EXPECT_EQ(one.traffic.node_bytes, planned.node_bytes);
      EXPECT_EQ(one.traffic.network_bytes, planned.network_bytes);
    }
    const TrafficRecord another(context);  // the first has stopped
    EXPECT_TRUE(another.executions().empty());
  });
}

}  // namespace
}  // namespace partita::testing
