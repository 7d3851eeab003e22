// The decision by itself, with times that nobody measured.
#include "trial.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace partita::scalapack {
namespace {

constexpr int calls = Trial::untimed + static_cast<int>(Trial::timed);

/// The times of the timed calls of one process: theirs and ours by turns.
using Times = std::vector<std::int64_t>;

/// All calls of a trial on a process on which they take so long. The untimed ones take longest: they must not
/// count.
Trial tried(const Times& times) {
  Trial trial;
  for (int call = 0; call < calls; ++call) {
    EXPECT_FALSE(trial.decided());
    EXPECT_EQ(trial.way(), call % 2 == 0 ? Way::theirs : Way::ours) << "call " << call;
    const bool timed = call >= Trial::untimed;
    const bool last =
        trial.finish(timed ? times.at(static_cast<std::size_t>(call - Trial::untimed)) : 1000000);
    EXPECT_EQ(last, call == calls - 1) << "call " << call;
  }
  return trial;
}

/// The way that every process takes in the end; it must be the same.
Way decision(const std::vector<Times>& processes) {
  std::vector<Trial> trials;
  Times all;
  for (const Times& times : processes) {
    trials.push_back(tried(times));
    const auto exchanged = trials.back().times();
    all.insert(all.end(), exchanged.begin(), exchanged.end());
  }
  for (Trial& trial : trials) {
    trial.decide(all);
    EXPECT_TRUE(trial.decided());
    EXPECT_EQ(trial.way(), trials.front().way());
  }
  return trials.front().way();
}

TEST(ScalapackTrial, TakesTheFasterWay) {
  EXPECT_EQ(decision({{100, 80, 100, 80, 100, 80}}), Way::ours);
  EXPECT_EQ(decision({{80, 100, 80, 100, 80, 100}}), Way::theirs);
}

TEST(ScalapackTrial, TakesOursOnATie) {
  EXPECT_EQ(decision({{1000, 1000, 1000, 1000, 1000, 1000}}), Way::ours);
  EXPECT_EQ(decision({{1000, 1020, 1000, 1020, 1000, 1020}}), Way::ours);
  EXPECT_EQ(decision({{1000, 1021, 1000, 1021, 1000, 1021}}), Way::theirs);
}

TEST(ScalapackTrial, DoesNotMindOneCallThatWasInterrupted) {
  EXPECT_EQ(decision({{100, 80, 100, 4000, 100, 80}}), Way::ours);
  EXPECT_EQ(decision({{80, 100, 80, 100, 4000, 100}}), Way::theirs);
}

/// The first process alone would say the contrary.
TEST(ScalapackTrial, CountsTheSlowestProcessOfEveryCall) {
  EXPECT_EQ(decision({{50, 60, 50, 60, 50, 60}, {100, 60, 100, 60, 100, 60}}), Way::ours);
  // Another process is the slow one each time: the medians of the single processes are equal.
  EXPECT_EQ(decision({{90, 200, 90, 90, 90, 90}, {90, 90, 90, 200, 90, 90}, {90, 90, 90, 90, 90, 90}}),
            Way::theirs);
}

TEST(ScalapackTrial, GoesOnWhereItWasForEveryKind) {
  Trials trials;
  constexpr std::uint64_t a = 1;
  constexpr std::uint64_t b = 2;
  trials.of(a).finish(1);
  EXPECT_EQ(trials.of(a).way(), Way::ours);
  EXPECT_EQ(trials.of(b).way(), Way::theirs);
  EXPECT_EQ(trials.size(), 2U);
}

TEST(ScalapackTrial, ForgetsAllWhenThereAreTooMany) {
  Trials trials;
  for (std::size_t i = 0; i < Trials::most; ++i) trials.of(i).finish(1);
  EXPECT_EQ(trials.size(), Trials::most);
  EXPECT_EQ(trials.of(0).way(), Way::ours);  // a known one forgets nothing
  EXPECT_EQ(trials.size(), Trials::most);
  EXPECT_EQ(trials.of(Trials::most).way(), Way::theirs);
  EXPECT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials.of(0).way(), Way::theirs);
}

}  // namespace
}  // namespace partita::scalapack
