#include "runtime/checks/call_notes.hpp"

#include "runtime/checks/array_number.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

std::string fact_of(const runtime::Report& report, const std::string& name) {
  for (const Fact& fact : report.facts) {
    if (fact.name == name) return fact.value;
  }
  return "";
}

TEST(CallNotes, SayWhatAnExecutionWas) {
  runtime::CallNotes notes;
  const std::vector<Fact> facts{{"reduction", "sum"}};
  notes.keep(4711, "all_reduce", facts);
  notes.note(3, false, {.plan = 4711, .arrays = {7, 0, runtime::number_of_result(9)}, .factors = {2, 0, 1}});
  const auto said = notes.execution(3, false);
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->operation, "all_reduce");
  EXPECT_EQ(fact_of(*said, "reduction"), "sum");
  EXPECT_EQ(fact_of(*said, "the operands"), "array 7 and a result of array 9 of the context");
  EXPECT_EQ(fact_of(*said, "factors"), "alpha 2+0i, beta 1+0i, scale 0");
  EXPECT_FALSE(notes.execution(3, true).has_value());
  EXPECT_FALSE(notes.execution(4, false).has_value());
  EXPECT_FALSE(notes.execution(0, false).has_value());
}

TEST(CallNotes, OfLongAgoAreGone) {
  runtime::CallNotes notes;
  notes.keep(1, "scan", {});
  for (std::uint64_t number = 1; number <= 100; ++number) notes.note(number, true, {.plan = 1});
  EXPECT_FALSE(notes.execution(1, true).has_value());
  EXPECT_TRUE(notes.execution(100, true).has_value());
  for (std::uint64_t plan = 2; plan < 1000; ++plan) notes.keep(plan, "gather", {});
  EXPECT_FALSE(notes.execution(100, true).has_value());
}

TEST(CallNotes, OfChecksAndArraysAreThereAsLongAsTheirCalls) {
  runtime::CallNotes notes;
  const std::function<runtime::Report()> outer = [] {
    runtime::Report report;
    report.operation = "redistribute";
    return report;
  };
  EXPECT_FALSE(notes.check().has_value());
  {
    const runtime::CallNotes::InCheck check(notes, outer);
    EXPECT_EQ(notes.check()->operation, "redistribute");
    const runtime::CallNotes::OfArrays of(notes, {4});
    EXPECT_EQ(notes.arrays().front(), 4U);
  }
  EXPECT_FALSE(notes.check().has_value());
  EXPECT_EQ(notes.arrays().front(), 0U);
}

}  // namespace
}  // namespace partita
