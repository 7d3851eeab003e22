#include "context/plan_cache.hpp"

#include <gtest/gtest.h>

#include <string>

namespace partita {
namespace {

std::shared_ptr<int> plan(int number) {
  return std::make_shared<int>(number);
}

TEST(PlanCache, TheLeastRecentlyUsedGoesFirst) {
  contexts::PlanCache plans;
  plans.set_capacity(3);
  for (const char* const key : {"a", "b", "c"}) plans.insert(key, plan(1));
  EXPECT_NE(plans.find("a"), nullptr);
  plans.insert("d", plan(2));
  EXPECT_EQ(plans.find("b"), nullptr);
  for (const char* const key : {"a", "c", "d"}) EXPECT_NE(plans.find(key), nullptr) << key;
  EXPECT_EQ(plans.size(), 3U);
}

TEST(PlanCache, WhatIsKeptTakesNoPlace) {
  contexts::PlanCache plans;
  plans.set_capacity(1);
  plans.keep("the context's", plan(1));
  for (int i = 0; i < 5; ++i) plans.insert(std::to_string(i), plan(i));
  EXPECT_NE(plans.find("4"), nullptr);
  EXPECT_NE(plans.find_kept("the context's"), nullptr);
  EXPECT_EQ(plans.find("the context's"), nullptr);
  plans.clear();
  EXPECT_EQ(plans.find_kept("the context's"), nullptr);
}

TEST(PlanCache, WhatIsPinnedStaysAsLongAsItsUser) {
  contexts::PlanCache plans;
  plans.set_capacity(1);
  std::weak_ptr<int> pinned;
  auto user = std::make_shared<int>(0);
  {
    const std::shared_ptr<int> used = plan(1);
    pinned = used;
    plans.insert("used", used);
    plans.pin(user, used);
  }
  plans.insert("another", plan(2));
  EXPECT_EQ(plans.find("used"), nullptr);
  plans.collect();
  EXPECT_FALSE(pinned.expired());
  user.reset();
  plans.collect();
  EXPECT_TRUE(pinned.expired());
  EXPECT_EQ(plans.pinned(), 0U);
}

}  // namespace
}  // namespace partita
