#include <nlohmann/json.hpp>

#include "support/models/hand_made_plans.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using namespace hand_made;
using Json = nlohmann::json;

Json explain_json(const std::vector<Plan>& plans, bool steps = false) {
  return Json::parse(
      explain(plans[0], {.format = ExplainOptions::Format::json, .steps = steps}, planner(plans)));
}

TEST(Explain, SaysInTextWhatMoves) {
  const std::vector<Plan> plans = messages(apart);
  const std::string text = explain(plans[0], {}, planner(plans));
  EXPECT_TRUE(contains(text, "redistribute: rank 0 of 2 on 2 nodes\n")) << text;
  EXPECT_TRUE(contains(text, "by hand: a test")) << text;
  EXPECT_TRUE(contains(text, plans[0].buffers[0].operand->to_string())) << text;
  EXPECT_TRUE(contains(text, "2 room         scratch  2.0 KiB")) << text;
  EXPECT_TRUE(contains(text, "steps    6: 3 copy, 1 send, 1 receive, 1 finish")) << text;
  EXPECT_TRUE(contains(text, "as messages                   32 B          56 B")) << text;
  EXPECT_FALSE(contains(text, "estimated")) << text;
  EXPECT_FALSE(contains(text, "finish, after")) << text;
}

TEST(Explain, ListsStepsWhereAsked) {
  const std::vector<Plan> plans = messages(apart);
  const std::string text = explain(plans[0], {.steps = true});
  EXPECT_TRUE(contains(text, "3  send 24 bytes of room[0] of rank 0 to rank 1\n")) << text;
  EXPECT_TRUE(contains(text, "to destination of rank 0, after the message of step 0\n")) << text;
  EXPECT_TRUE(contains(text, "5  finish, after the message of step 3\n")) << text;
}

TEST(Explain, GivesTheSameAsJson) {
  const std::vector<Plan> plans = messages(apart);
  const Json json = explain_json(plans, true);
  EXPECT_EQ(json["operation"], "redistribute");
  EXPECT_EQ(json["method"], "by hand");
  EXPECT_EQ(json["rank"], 0);
  EXPECT_EQ(json["ranks"], 2);
  EXPECT_EQ(json["nodes"], 2);
  EXPECT_EQ(json["buffers"].size(), 3u);
  EXPECT_EQ(json["buffers"][0]["shape"], (std::vector<int>{5, 3}));
  EXPECT_EQ(json["buffers"][0]["distribution"], "slab:0");
  EXPECT_EQ(json["buffers"][2]["bytes"], 2048);
  EXPECT_EQ(json["traffic"]["network_bytes"], 32);
  EXPECT_EQ(json["total"]["network_bytes"], 56);
  EXPECT_EQ(json["total"]["messages"], 2);
  EXPECT_EQ(json["total"]["sampled"], false);
  ASSERT_EQ(json["steps"].size(), 6u);
  EXPECT_EQ(json["steps"][3]["kind"], "send");
  EXPECT_EQ(json["steps"][4]["after"], (std::vector<int>{0}));
  EXPECT_FALSE(explain_json(plans).contains("steps"));
}

TEST(Explain, HasNoTotalsWithoutAPlanner) {
  const Plan plan = messages(apart)[0];
  EXPECT_FALSE(Json::parse(explain(plan, {.format = ExplainOptions::Format::json})).contains("total"));
  EXPECT_FALSE(contains(explain(plan), "2 ranks\n"));
}

// Every rank moves 8 bytes, but only some of the ranks are asked.
TEST(Explain, ScalesASampleUpAndSaysSo) {
  const Problem one({2, 2}, "replicated", "replicated", 2000);
  int asked = 0;
  const Planner counting = [&](int rank) {
    ++asked;
    Plan plan{"redistribute", "local", "", rank, one.topology, {}, {}};
    plan.buffers = {{"source", BufferKind::operand, Operand::of(one.from, Dtype::u16), 0},
                    {"destination", BufferKind::operand, Operand::of(one.to, Dtype::u16), 0}};
    plan.steps = {copy(one.piece(rank, rank), source(rank), destination(rank))};
    return plan;
  };
  const Plan plan = counting(7);
  asked = 0;
  const Json json = Json::parse(explain(plan, {.format = ExplainOptions::Format::json}, counting));
  EXPECT_EQ(asked, 256);
  EXPECT_EQ(json["total"]["local_bytes"], 2000 * 8);
  EXPECT_EQ(json["total"]["ranks_asked"], 256);
  EXPECT_EQ(json["total"]["sampled"], true);
  EXPECT_TRUE(contains(explain(plan, {}, counting), "estimated from a sample of 256 ranks"));
}

TEST(Explain, SurvivesAPlanThatNamesNothing) {
  Plan plan;
  plan.operation = "broken";
  plan.steps = {copy({}, {5, 0, 0, {}}, {-1, 0, 0, {}})};
  EXPECT_THROW((void)traffic(plan), ArgumentError);
}

}  // namespace
}  // namespace partita
