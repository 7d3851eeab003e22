// The decision by itself, with times that were not measured.
#include "trial.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace partita::scalapack {
namespace {

/// How long a row takes on one process: theirs and ours by turns.
using Times = std::vector<std::int64_t>;

/// All calls of a trial on a process on which they take so long. The first of a row takes longest: it must
/// not count.
Trial tried(const Times& times) {
  constexpr std::int64_t untimed = 1000000;
  Trial trial;
  for (int call = 0; call < Trial::calls; ++call) {
    const int row = call / Trial::row;
    const int place = call % Trial::row;
    EXPECT_FALSE(trial.decided());
    EXPECT_EQ(trial.way(), row % 2 == 0 ? Way::theirs : Way::ours) << "call " << call;
    const std::int64_t time = place == 1 ? times.at(static_cast<std::size_t>(row)) : 0;
    EXPECT_EQ(trial.finish(place == 0 ? untimed : time), call == Trial::calls - 1) << "call " << call;
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

/// Rounds that are all alike.
Times rounds(std::int64_t theirs, std::int64_t ours) {
  Times times;
  for (int round = 0; round < Trial::rounds; ++round) times.insert(times.end(), {theirs, ours});
  return times;
}

TEST(ScalapackTrial, TakesTheFasterWay) {
  EXPECT_EQ(decision({rounds(100, 80)}), Way::ours);
  EXPECT_EQ(decision({rounds(80, 100)}), Way::theirs);
}

TEST(ScalapackTrial, TakesOursOnATie) {
  EXPECT_EQ(decision({rounds(1000, 1000)}), Way::ours);
  EXPECT_EQ(decision({rounds(1000, 1020)}), Way::ours);
  EXPECT_EQ(decision({rounds(1000, 1021)}), Way::theirs);
}

TEST(ScalapackTrial, DoesNotMindTwoRowsThatWereInterrupted) {
  EXPECT_EQ(decision({{100, 80, 100, 4000, 100, 80, 100, 4000, 100, 80}}), Way::ours);
  EXPECT_EQ(decision({{80, 100, 80, 100, 4000, 100, 80, 100, 4000, 100}}), Way::theirs);
}

/// Neighbours are compared: medians of all rows would say the contrary.
TEST(ScalapackTrial, DoesNotMindAMachineThatSlowsDown) {
  EXPECT_EQ(decision({{100, 90, 110, 99, 400, 500, 410, 500, 420, 415}}), Way::ours);
}

/// Single processes would say the contrary.
TEST(ScalapackTrial, CountsTheSlowestProcessOfEveryRow) {
  EXPECT_EQ(decision({rounds(50, 60), rounds(100, 60)}), Way::ours);
  // another process is the slow one in every round
  EXPECT_EQ(decision({{90, 200, 90, 80, 90, 80, 90, 80, 90, 80},
                      {90, 80, 90, 200, 90, 80, 90, 80, 90, 80},
                      {90, 80, 90, 80, 90, 200, 90, 80, 90, 80}}),
            Way::theirs);
}

TEST(ScalapackTrial, GoesOnWhereItWasForEveryKind) {
  Trials trials;
  constexpr std::uint64_t a = 1;
  constexpr std::uint64_t b = 2;
  for (int call = 0; call < Trial::row; ++call) trials.of(a).finish(1);
  EXPECT_EQ(trials.of(a).way(), Way::ours);
  EXPECT_EQ(trials.of(b).way(), Way::theirs);
  EXPECT_EQ(trials.size(), 2U);
}

TEST(ScalapackTrial, ForgetsAllWhenThereAreTooMany) {
  Trials trials;
  for (std::size_t i = 0; i < Trials::most; ++i) {
    for (int call = 0; call < Trial::row; ++call) trials.of(i).finish(1);
  }
  EXPECT_EQ(trials.size(), Trials::most);
  EXPECT_EQ(trials.of(0).way(), Way::ours);  // a known one forgets nothing
  EXPECT_EQ(trials.size(), Trials::most);
  EXPECT_EQ(trials.of(Trials::most).way(), Way::theirs);
  EXPECT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials.of(0).way(), Way::theirs);
}

}  // namespace
}  // namespace partita::scalapack
