#include "runtime/checks/difference.hpp"

#include "runtime/checks/public_call.hpp"
#include "runtime/checks/rank_list.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

runtime::Report report(const std::string& operation, std::vector<Fact> facts) {
  runtime::Report result;
  result.operation = operation;
  result.facts = std::move(facts);
  return result;
}

std::string text_of(const std::vector<runtime::Report>& reports, const std::vector<int>& ranks) {
  return caught<DisagreementError>([&] { runtime::throw_difference(reports, ranks); });
}

TEST(RankList, IsCompressed) {
  EXPECT_EQ(runtime::rank_list({}), "no rank");
  EXPECT_EQ(runtime::rank_list({3}), "rank 3");
  EXPECT_EQ(runtime::rank_list({0, 1}), "ranks 0,1");
  EXPECT_EQ(runtime::rank_list({0, 1, 3}), "ranks 0,1,3");
  EXPECT_EQ(runtime::rank_list({0, 1, 2, 5}), "ranks 0-2,5");
  EXPECT_EQ(runtime::rank_list({1, 3, 4, 5, 6, 9, 10}), "ranks 1,3-6,9,10");
}

TEST(Difference, ReportsTravelAsBytes) {
  runtime::Report sent = report("fft", {{"shape", "8x8"}, {"", ""}});
  runtime::Report received = deserialize<runtime::Report>(serialize(sent));
  EXPECT_EQ(received.operation, "fft");
  EXPECT_FALSE(received.threw);
  ASSERT_EQ(received.facts.size(), 2U);
  EXPECT_EQ(received.facts[0].value, "8x8");
  sent.threw = true;
  sent.error = {runtime::ErrorKind::error, "sorry"};
  received = deserialize<runtime::Report>(serialize(sent));
  EXPECT_TRUE(received.threw);
  EXPECT_EQ(received.error.text, "sorry");
  EXPECT_THROW(deserialize<runtime::Report>("rubbish"), Error);
}

TEST(Difference, NamesOnlyTheFactsThatDiffer) {
  const std::vector<runtime::Report> reports{report("fft", {{"a", "1"}, {"b", "x"}, {"c", "7"}}),
                                             report("fft", {{"a", "1"}, {"b", "y"}, {"c", "8"}}),
                                             report("fft", {{"a", "1"}, {"b", "x"}, {"c", "7"}})};
  EXPECT_EQ(
      text_of(reports, {0, 1, 2}),
      "fft: the ranks disagree on b: x on ranks 0,2; y on rank 1; and on c: 7 on ranks 0,2; 8 on rank 1");
  // Ranks of a subgroup keep their numbers.
  EXPECT_TRUE(contains(text_of(reports, {4, 6, 9}), "x on ranks 4,9; y on rank 6"));
}

TEST(Difference, WhatSomebodyThrewIsSaidInAnyCase) {
  std::vector<runtime::Report> reports{report("allocate", {}), report("add", {}), report("allocate", {})};
  reports[1].threw = true;
  reports[1].error = {runtime::ErrorKind::argument, "no such axis"};
  EXPECT_EQ(
      text_of(reports, {0, 1, 2}),
      "the ranks called different operations: allocate on ranks 0,2; add on rank 1; rank 1: no such axis");
}

TEST(Difference, StaysShort) {
  std::vector<runtime::Report> reports;
  std::vector<int> ranks;
  for (int rank = 0; rank < 1000; ++rank) {
    reports.push_back(report("fft", {{"shape", std::string(5000, 'x') + std::to_string(rank)}}));
    ranks.push_back(rank);
  }
  const std::string text = text_of(reports, ranks);
  EXPECT_LT(text.size(), 4000U);
  EXPECT_TRUE(contains(text, "and 992 other values")) << text;
}

// The chains of later executions differ too: the first one is it.
TEST(Difference, OfExecutionsBeforeIsTheFirstThatAllKnow) {
  std::vector<runtime::Report> reports{report("barrier", {{"the previous executions", "5"}}),
                                       report("barrier", {{"the previous executions", "6"}})};
  reports[0].executed = {{3, 30, "sum", {{"array", "a"}}}, {4, 40, "sum", {{"array", "a"}}}};
  reports[1].executed = {{2, 20, "max", {}},
                         {3, 30, "sum", {{"array", "a"}}},
                         {4, 41, "sum", {{"array", "b"}}},
                         {5, 50, "max", {}}};
  EXPECT_EQ(text_of(reports, {0, 1}),
            "sum: the ranks disagree on array: a on rank 0; b on rank 1 (execution 4 of the context)");
  reports[1].executed[2].chain = 40;
  EXPECT_EQ(
      text_of(reports, {0, 1}),
      "the ranks called different operations: barrier on rank 0; max on rank 1 (execution 5 of the context)");
  reports[0].executed.pop_back();
  reports[1].executed.erase(reports[1].executed.begin() + 2);
  EXPECT_EQ(text_of(reports, {0, 1}),
            "barrier: the ranks disagree on the previous executions: 5 on rank 0; 6 on rank 1");
}

// The calls of the program, where all know them, and not the steps that they are in.
TEST(Difference, NamesTheCallsOfTheProgram) {
  const auto step = [](const char* operation, const char* call, std::vector<Fact> facts) {
    facts.push_back({runtime::of_the_program, call});
    return report(operation, std::move(facts));
  };
  EXPECT_EQ(text_of({step("lu", "inverse", {}), step("barrier", "barrier", {})}, {0, 1}),
            "the ranks called different operations: inverse on rank 0; barrier on rank 1");
  EXPECT_EQ(
      text_of({step("matmul", "matmul", {{"A", "8x8"}}), step("matmul", "polar", {{"A", "9x9"}})}, {0, 1}),
      "the ranks called different operations: matmul on rank 0; polar on rank 1");
  EXPECT_EQ(
      text_of({step("matmul", "polar", {{"A", "8x8"}}), step("matmul", "polar", {{"A", "9x9"}})}, {0, 1}),
      "polar: the ranks disagree on A: 8x8 on rank 0; 9x9 on rank 1");
  EXPECT_EQ(text_of({step("lu", "polar", {}), step("qr", "polar", {})}, {0, 1}),
            "polar: the ranks called different operations: lu on rank 0; qr on rank 1");
  EXPECT_EQ(text_of({step("lu", "polar", {}), report("sum", {})}, {0, 1}),
            "the ranks called different operations: lu on rank 0; sum on rank 1");
}

}  // namespace
}  // namespace partita
