#include "context/plan_cache.hpp"

#include "context/attachments.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using contexts::PlanKey;

std::shared_ptr<int> plan(int number) {
  return std::make_shared<int>(number);
}

void add(contexts::PlanCache& plans, std::string_view key, const std::shared_ptr<int>& made) {
  (void)plans.find_or_make<int>(PlanKey(key), [&] { return made; });
}

TEST(PlanCache, TheLeastRecentlyUsedGoesFirst) {
  contexts::PlanCache plans;
  plans.set_capacity(3);
  for (const char* const key : {"a", "b", "c"}) add(plans, key, plan(1));
  EXPECT_NE(plans.find(PlanKey("a")), nullptr);
  add(plans, "d", plan(2));
  EXPECT_EQ(plans.find(PlanKey("b")), nullptr);
  for (const char* const key : {"a", "c", "d"}) EXPECT_NE(plans.find(PlanKey(key)), nullptr) << key;
  EXPECT_EQ(plans.size(), 3U);
}

// Before the next one is made: ranks that share a device may begin with that once it is.
TEST(PlanCache, WhatGoesHasGoneWhenTheNextIsMade) {
  contexts::PlanCache plans;
  plans.set_capacity(2);
  const std::weak_ptr<int> first = plans.find_or_make<int>(PlanKey("first"), [] { return plan(1); });
  add(plans, "second", plan(2));
  (void)plans.find_or_make<int>(PlanKey("third"), [&] {
    EXPECT_TRUE(first.expired());
    add(plans, "made while another is", plan(4));
    return plan(3);
  });
  for (const char* const key : {"second", "third", "made while another is"})
    EXPECT_NE(plans.find(PlanKey(key)), nullptr) << key;
  add(plans, "fourth", plan(5));
  EXPECT_EQ(plans.size(), 2U);
  EXPECT_NE(plans.find(PlanKey("fourth")), nullptr);
}

void add_with(contexts::PlanCache& plans, std::string_view key, std::int64_t bytes) {
  plans.make_room();
  plans.insert(PlanKey(key), plan(1), bytes);
}

TEST(PlanCache, PlansHaveNoMoreBytesThanTheyMay) {
  contexts::PlanCache plans;
  plans.set_most_bytes(100);
  for (const char* const key : {"a", "b", "c"}) add_with(plans, key, 30);
  EXPECT_NE(plans.find(PlanKey("a")), nullptr);
  add_with(plans, "d", 20);
  EXPECT_EQ(plans.find(PlanKey("b")), nullptr);
  EXPECT_EQ(plans.bytes(), 80);
  plans.add_bytes(PlanKey("c"), 60);
  EXPECT_EQ(plans.find(PlanKey("c")), nullptr);  // the least recently used of those that have too many
  EXPECT_EQ(plans.bytes(), 50);
  add_with(plans, "large", 1000);  // the one in use stays
  EXPECT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans.bytes(), 1000);
  plans.clear();
  EXPECT_EQ(plans.bytes(), 0);
}

TEST(PlanCache, WithoutALimitTheLargestPlanSaysHowManyBytesThereMayBe) {
  contexts::PlanCache plans;
  constexpr std::int64_t always = contexts::PlanCache::always_kept,
                         times = contexts::PlanCache::largest_plans;
  for (int i = 0; i < 40; ++i) add_with(plans, "little " + std::to_string(i), always / 40);
  EXPECT_EQ(plans.size(), 40U);
  for (int i = 0; i < 2 * times; ++i) add_with(plans, "large " + std::to_string(i), always);
  EXPECT_EQ(plans.size(), static_cast<std::size_t>(times));
}

TEST(PlanCache, HalfOfThemMakeRoom) {
  contexts::PlanCache plans;
  for (const char* const key : {"a", "b", "c"}) add_with(plans, key, 10);
  EXPECT_TRUE(plans.drop_half());
  EXPECT_EQ(plans.size(), 1U);
  EXPECT_NE(plans.find(PlanKey("c")), nullptr);
  EXPECT_TRUE(plans.drop_half());
  EXPECT_FALSE(plans.drop_half());
  EXPECT_EQ(plans.bytes(), 0);
}

TEST(Attachments, OneOfEachType) {
  contexts::Attachments attachments;
  attachments.get<int>() = 3;
  EXPECT_EQ(attachments.get<int>(), 3);
  EXPECT_EQ(attachments.get<std::string>(), "");
  EXPECT_THROW(attachments.get<double>([]() -> std::shared_ptr<double> { throw MemoryError("none"); }),
               MemoryError);
  EXPECT_EQ(attachments.get<double>([] { return std::make_shared<double>(0.5); }), 0.5);
  attachments.clear();
  EXPECT_EQ(attachments.get<int>(), 0);
}

TEST(PlanKey, TellsOperandsAndOptionsApart) {
  using Key = contexts::PlanKey;
  const Operand a = Operand::of(Layout(Slab(0), {8, 6}, 2), Dtype::f64);
  const Operand others[] = {
      Operand::of(Layout(Slab(1), {8, 6}, 2), Dtype::f64),
      Operand::of(Layout(Slab(0), {8, 6}, 2), Dtype::f32),
      Operand::of(Layout(Slab(0), {8, 6}, 2), Dtype::f64, Order::column_major),
      Operand::of(Layout(Slab(0), {8, 6}, 2), Dtype::f64, Order::row_major, Residency::heap)};
  const Key key = Key("fft").add(a);
  EXPECT_EQ(key, Key("fft").add(Operand(a)));
  EXPECT_NE(key, Key("matmul").add(a));
  EXPECT_NE(key, Key("fft").add(a).add(0));
  for (const Operand& other : others) EXPECT_NE(key, Key("fft").add(other)) << other.to_string();
  EXPECT_NE(Key("x").add(std::vector<int>{1}, std::vector<int>{2}), Key("x").add(std::vector<int>{1, 2}));
  EXPECT_NE(Key("x").add(std::optional<int>()), Key("x").add(std::optional<int>(0)));
  EXPECT_NE(Key("x").add("a", "b"), Key("x").add("ab", ""));
  EXPECT_NE(Key("x").add(std::vector<double>{0.5}), Key("x").add(std::vector<double>{0.25}));
}

TEST(PlanCache, WhatIsPinnedStaysAsLongAsItsUser) {
  contexts::PlanCache plans;
  plans.set_capacity(1);
  std::weak_ptr<int> pinned;
  auto user = std::make_shared<int>(0);
  {
    const std::shared_ptr<int> used = plan(1);
    pinned = used;
    add(plans, "used", used);
    plans.pin(user, used);
  }
  add(plans, "another", plan(2));
  EXPECT_EQ(plans.find(PlanKey("used")), nullptr);
  plans.collect();
  EXPECT_FALSE(pinned.expired());
  user.reset();
  plans.collect();
  EXPECT_TRUE(pinned.expired());
  EXPECT_EQ(plans.pinned(), 0U);
}

TEST(PlanCache, AHashTellsKeysAndTheirOrder) {
  contexts::PlanCache one, other;
  for (const char* const key : {"a", "b"}) add(one, key, plan(1));
  for (const char* const key : {"b", "a"}) add(other, key, plan(2));
  EXPECT_NE(one.hash_of_keys(), other.hash_of_keys());
  (void)one.find(PlanKey("a"));
  EXPECT_EQ(one.hash_of_keys(), other.hash_of_keys());
  one.forget();
  EXPECT_EQ(one.size(), 0U);
  EXPECT_EQ(one.find(PlanKey("a")), nullptr);
  EXPECT_EQ(one.hash_of_keys(), contexts::PlanCache().hash_of_keys());
}

}  // namespace
}  // namespace partita
